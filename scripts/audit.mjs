// Known vulnerabilities of the packages that crawlnode runs with (`npm audit`), where the registry answers.
//
//   node scripts/audit.mjs
//
// Ends with 1 for one of high or critical severity, with 2 where there was no answer, as the registry does not offer the service
// or cannot be reached (a mirror often offers packages alone), else with 0.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TIMEOUT_MS = 60_000;
const args = ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'];

const report = await ask();
const found = report?.metadata?.vulnerabilities;
if (found === undefined) {
  console.log(`audit: not answered (${report?.message ?? 'npm gave no report'})`);
  process.exitCode = 2;
} else {
  const serious = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) =>
    /^(high|critical)$/.test(severity),
  );
  for (const { name, severity, range } of serious) console.log(`${severity}: ${name} ${range}`);
  console.log(`audit: ${found.total} known vulnerabilities, ${serious.length} of them high or critical`);
  process.exitCode = serious.length === 0 ? 0 : 1;
}

/** @returns what npm prints, parsed; null when it is no JSON, or npm does not come to an end. */
function ask() {
  return new Promise((resolve) => {
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const child = spawn('npm', args, { cwd, stdio: ['ignore', 'pipe', 'ignore'], timeout: TIMEOUT_MS });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', () => resolve(null));
    child.on('close', () => {
      try {
        resolve(JSON.parse(text));
      } catch {
        resolve(null);
      }
    });
  });
}
