/** Types for settings written in code, such as a spider's `customSettings`. */
import type { SettingsInput } from './schema.js';

/** Return the settings unchanged. The type lets an editor complete their names and check their values. */
export function defineSettings<const S extends SettingsInput>(settings: S): S {
  return settings;
}
