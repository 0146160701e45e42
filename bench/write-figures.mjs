/** The figures of a bench as a file, with the machine they were taken on. */
import { writeFile } from 'node:fs/promises';
import os from 'node:os';

export async function writeFigures(file, figures) {
  const machine = { node: process.version, cpus: os.cpus().length, cpu: os.cpus()[0]?.model ?? 'unknown' };
  await writeFile(file, `${JSON.stringify({ machine, ...figures }, null, 2)}\n`);
}
