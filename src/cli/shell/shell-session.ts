/** What can be typed in `crawlnode shell`: the names of its prompt, and how their values are printed. */
import { spawn } from 'node:child_process';
import { Console } from 'node:console';
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import type { PoliteFetcher } from '../../crawler/shell/polite-fetcher.js';
import { howMany, n } from '../../format-amounts.js';
import { SelectorList } from '../../http/markup/selector.js';
import { Request, type RequestOptions } from '../../http/message/request.js';
import { Response } from '../../http/message/response.js';
import { maskSetting } from '../../settings/mask-secrets.js';
import { MASK } from '../../settings/mask-urls.js';
import type { OwnSettings } from '../../settings/own/own-settings.js';
import type { Spider } from '../../spider/spider.js';
import type { Context } from '../context.js';
import { print } from '../context.js';
import { hasColour } from '../terminal/colour.js';
import { printable } from '../terminal/printable.js';

export const shellHelp = `  response, request     the last page; null before the first one
  await fetch(url)      download a page; a Request and the options of one are taken too
  view(response)        show a page in your browser
  spider, settings      the spider, and its settings
  Request, Response     the classes
  .exit                 leave (also Ctrl-D)
`;

/** Matches of a selection that are shown. */
const SHOWN = 10;

export interface ShellParts {
  readonly context: Context;
  readonly fetcher: PoliteFetcher;
  readonly spider: Spider;
  /** The settings that the project declares, some of which may be secret. */
  readonly own: OwnSettings | null;
  readonly stop: AbortSignal;
}

export class ShellSession {
  readonly #parts: ShellParts;
  #folder: string | null = null;
  #views = 0;
  #response: Response | null = null;

  constructor(parts: ShellParts) {
    this.#parts = parts;
  }

  /** Define the names of the prompt in the global object. */
  define(): void {
    const constants = {
      ...{ spider: this.#parts.spider, settings: this.#parts.spider.settings, Request, Response },
      fetch: (page: string | URL | Request, options?: RequestOptions) => this.fetch(page, options),
      view: (response?: Response) => this.view(response ?? this.#response),
      console: this.#console(),
    };
    for (const [name, value] of Object.entries(constants)) {
      const property = { value, writable: true, configurable: true, enumerable: true };
      Object.defineProperty(globalThis, name, property);
    }
    Object.defineProperties(globalThis, {
      response: { get: () => this.#response, configurable: true, enumerable: true },
      request: { get: () => this.#response?.request ?? null, configurable: true, enumerable: true },
    });
  }

  /** Download a page, which becomes `response`. */
  async fetch(page: string | URL | Request, options: RequestOptions = {}): Promise<Response> {
    const request = page instanceof Request ? page.replace(options) : new Request(page, options);
    this.show(await this.#parts.fetcher.fetch(request, this.#parts.stop));
    return this.#response!;
  }

  /** Make a page the `response`. */
  show(response: Response): void {
    this.#response = response;
  }

  /** Write a page to a file with the base of its links, and open it where there is a screen. */
  view(response: Response | null): string {
    if (!(response instanceof Response)) {
      throw new TypeError('there is no page yet: await fetch(url), then view(response)');
    }
    this.#folder ??= mkdtempSync(path.join(os.tmpdir(), 'crawlnode-shell-'));
    this.#views += 1;
    const isHtml = /<html|<body|<head|<title|<!doctype html/i.test(response.text);
    const file = path.join(this.#folder, `page-${this.#views}.${isHtml ? 'html' : 'txt'}`);
    const base = `<base href="${response.url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"><meta charset="utf-8">`;
    writeFileSync(file, isHtml ? withBase(response.text, base) : response.text);
    if (this.#hasScreen()) openFile(file);
    return file;
  }

  /** How a result is printed: short for pages and selections. */
  readonly write = (value: unknown): string => {
    const { env, stdout } = this.#parts.context;
    if (value instanceof Response) {
      const { status, url, body } = value;
      return printable(`Response ${status} ${url} (${howMany(body.length, 'byte')})`);
    }
    if (value instanceof SelectorList) {
      const all = value.getAll();
      const rest = all.length > SHOWN ? ` and ${n(all.length - SHOWN)} more` : '';
      return `SelectorList(${all.length}) ${inspect(all.slice(0, SHOWN), { maxStringLength: 120 })}${rest}`;
    }
    if (value instanceof Promise) return 'a promise; put "await" in front: await fetch(url)';
    // An expected error needs no stack trace.
    if (value instanceof Error && 'code' in value) return printable(`${value.name}: ${value.message}`);
    const { settings } = this.#parts.spider;
    const shown = value === settings ? this.#masked(settings) : value;
    const inspected = (each: unknown) =>
      inspect(each, { colors: hasColour(env, stdout), maxStringLength: 2_000 });
    // A spider and much else holds settings. A text of a page is printed as it is.
    return this.#parts.context.mask(this.#maskNamed(inspected(shown), inspected));
  };

  /** As `crawlnode settings` shows them: secrets masked, however short. */
  #masked(settings: object): object {
    return Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, maskSetting(name, value, this.#parts.own)]),
    );
  }

  /**
   * The output filter leaves short secrets, since they could be any text. After the name of its setting, such a text is the
   * secret.
   */
  #maskNamed(text: string, inspected: (value: unknown) => string): string {
    let masked = text;
    for (const [name, value] of Object.entries(this.#parts.spider.settings)) {
      if (typeof value !== 'string' || value === '' || maskSetting(name, value, this.#parts.own) !== MASK)
        continue;
      masked = masked.replaceAll(`${name}: ${inspected(value)}`, () => `${name}: ${inspected(MASK)}`);
    }
    return masked;
  }

  /** Close the connections. Files of `view` stay, since a browser may show them. */
  async close(): Promise<void> {
    await this.#parts.fetcher.close();
  }

  /** Text of a page that is printed must not control the terminal. */
  #console(): Console {
    const stream = (name: 'stdout' | 'stderr') =>
      new Writable({
        write: (chunk, _encoding, done) => {
          this.#parts.context[name].write(String(chunk));
          done();
        },
      });
    return new Console({ stdout: stream('stdout'), stderr: stream('stderr') });
  }

  #hasScreen(): boolean {
    const { env, stdout } = this.#parts.context;
    if (!stdout.isTTY) return false;
    return process.platform !== 'linux' || Boolean(env.DISPLAY ?? env.WAYLAND_DISPLAY);
  }
}

/** Open a file with the program that the user has chosen for its kind. Without one nothing happens: the path is printed. */
function openFile(file: string): void {
  const program = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(program, [file], { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref();
}

function withBase(html: string, base: string): string {
  return /<head[^>]*>/i.test(html) ? html.replace(/<head[^>]*>/i, (head) => head + base) : base + html;
}

/** Print what the prompt knows, for people. */
export function greet(context: Context, response: Response | null): void {
  if (response !== null) print(context, printable(`${response.status} ${context.mask(response.url)}\n`));
  print(context, shellHelp);
}
