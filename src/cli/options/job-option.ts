/** `--job ID`, on every command that names a spider; it stands for the setting JOB. */
import { Option } from 'commander';
import type { SettingTexts } from '../project/open-project.js';

export function jobOption(): Option {
  return new Option('--job <id>', 'name of the job, a separate crawl of the spider');
}

/** The settings that options of a command stand for. */
export function textsOf(options: Readonly<Record<string, unknown>>): SettingTexts {
  return { JOB: options.job as string | undefined };
}
