/** Settings in code: examples of the API page (docs/reference/api.md). */
import {
  defineSettings,
  type ProjectTypes,
  type Response,
  type Settings,
  type SettingsInput,
  Spider,
} from 'crawlnode';
import { z } from 'zod';

//#region defineSettings, SettingsInput, Settings
/** A misspelt name or a wrong type does not compile; an editor shows unit, default and meaning of each. */
const slow = defineSettings({ DOWNLOAD_DELAY: 5, CONCURRENT_REQUESTS_PER_DOMAIN: 1 });

export class Archive extends Spider {
  override name = 'archive';
  override startUrls = ['https://archive.example/'];
  override customSettings: SettingsInput = { ...slow, RETRY_TIMES: 5 };

  override parse(response: Response) {
    return { url: response.url, delay: delayOf(this.settings) };
  }
}

/** All settings in effect, with their defaults. */
const delayOf = ({ DOWNLOAD_DELAY }: Settings): number => DOWNLOAD_DELAY;
//#endregion

//#region ProjectTypes
/** Settings of one's own, as the module of SETTINGS_SCHEMA declares them. */
const schema = z.object({ SHOP_MIN_PRICE: z.number().min(0).default(0) });

declare module 'crawlnode' {
  interface ProjectTypes {
    settings: typeof schema;
  }
}

/** They are settings like all others: `this.settings.SHOP_MIN_PRICE`. */
export const minPrice = (settings: Settings): number => settings.SHOP_MIN_PRICE;
export type OwnSettings = z.input<ProjectTypes['settings']>;
//#endregion
