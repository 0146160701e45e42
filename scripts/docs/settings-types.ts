/** src/settings/settings-input.ts, from the definitions of the settings: their meaning, unit and default on hover. */
import type { Definition } from '../../src/settings/kinds.js';
import { definitionOf, settingNames } from '../../src/settings/schema.js';

/** The longest line of the source. */
const COLUMNS = 110;

/** The text of the module. */
export function settingsTypes(): string {
  const members = settingNames.map((name) => {
    const definition = definitionOf(name)!;
    return `${docstring(textOf(definition))}\n  readonly ${name}?: Input<'${name}'>;`;
  });
  return `/** Written by "npm run docs" from the definitions of the settings. Change src/settings/sections/, not this file. */
import type * as z from 'zod';
import type { definitions, SettingName } from './definitions.js';

type Input<N extends SettingName> = z.input<(typeof definitions)[N]['zod']> | undefined;

/**
 * Settings as a settings file or a spider may write them: any of them, in any accepted spelling. Times are in seconds, sizes
 * in bytes.
 */
export interface SettingsInput {
${members.join('\n')}
}
`;
}

function textOf({ text, unit, default: value }: Definition): string {
  const parts = [text, unit === '' ? '' : `Unit: ${unit}.`, `Default: ${JSON.stringify(value)}.`];
  return parts
    .filter((part) => part !== '')
    .map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
    .join(' ')
    .replaceAll('*/', '*\\/');
}

function docstring(text: string): string {
  if (text.length + '  /**  */'.length <= COLUMNS) return `  /** ${text} */`;
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + '   * '.length < COLUMNS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return ['  /**', ...lines.map((line) => `   * ${line}`), '   */'].join('\n');
}
