/** Preloaded with --import: writes the CPU time of the whole process and its largest RSS to a file when it ends. */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.env.CPU_METER_FILE) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const { maxRSS } = process.resourceUsage();
    const meter = { cpuMs: (user + system) / 1000, maxRssMb: maxRSS / 1024 };
    writeFileSync(process.env.CPU_METER_FILE, JSON.stringify(meter));
  });
}
