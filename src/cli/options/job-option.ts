/** `--job ID`, on every command that takes a spider. It sets JOB. */
import { Option } from 'commander';
import type { SettingTexts } from '../project/open-project.js';

export function jobOption(): Option {
  return new Option('--job <id>', 'name of the job, a separate crawl of the spider');
}

/** The setting texts that the options of a command set. */
export function settingTextsOf(options: Readonly<Record<string, unknown>>): SettingTexts {
  return { JOB: options.job as string | undefined };
}
