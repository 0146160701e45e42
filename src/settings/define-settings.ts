/** Types for settings written in code, such as a spider's `customSettings`. */
import type { SettingsInput } from './schema.js';

/** Give back the settings as they are; an editor completes their names and checks their types. */
export function defineSettings<const S extends SettingsInput>(settings: S): S {
  return settings;
}
