/** Types for settings written in code, such as a spider's `customSettings`. */
import type { SettingsInput } from './schema.js';

/**
 * Return the settings unchanged. An editor completes their names and checks their values, and a misspelt name is an error:
 * `customSettings = defineSettings({ DOWNLOAD_DELAY: 1 })`.
 */
export function defineSettings(settings: SettingsInput): SettingsInput {
  return settings;
}
