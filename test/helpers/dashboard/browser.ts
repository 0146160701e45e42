/** A browser for tests and pictures: Debian's chromium, driven by playwright-core. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Null where there is none. */
export const chromiumPath =
  ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync) ?? null;

export async function openBrowser(): Promise<Browser> {
  if (chromiumPath === null) throw new Error('no chromium here: install the package chromium');
  // Its sandbox does not start for root, as whom tests may run.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: chromiumPath, args });
}
