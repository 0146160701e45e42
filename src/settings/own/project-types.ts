/** Connects the types of a project to the API, so that the compiler knows the project's own settings. */

/**
 * The types of a project. The module of SETTINGS_SCHEMA adds its schema, and every `settings`, `customSettings` and
 * `defineSettings` then knows the settings of the project:
 * ```ts
 * declare module 'crawlnode' {
 *   interface ProjectTypes { settings: typeof schema }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: modules of projects extend it
export interface ProjectTypes {}

type Types = ProjectTypes extends {
  settings: { readonly '~standard': { readonly types?: infer T } };
}
  ? NonNullable<T>
  : unknown;

/** The settings of one's own as the program reads them. */
export type OwnSettingsOutput = Types extends { readonly output: infer Output } ? Readonly<Output> : unknown;

/** The settings of one's own as they may be written: any of them. */
export type OwnSettingsInput = Types extends { readonly input: infer Input }
  ? { readonly [N in keyof Input]?: Input[N] | undefined }
  : unknown;
