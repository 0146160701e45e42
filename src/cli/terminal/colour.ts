/** Colour for results on a terminal; plain text in a pipe, and where NO_COLOR says so (no-color.org). */
import { styleText } from 'node:util';
import type { Context, Output } from '../context.js';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** A function that paints text as it suits the stream. */
export type Paint = (style: Style, text: string) => string;

export function paintFor(context: Pick<Context, 'env'>, stream: Output): Paint {
  // The decision is made here: styleText by itself looks at the environment and the streams of this process.
  const paint: Paint = (style, text) => styleText(style, text, { validateStream: false });
  return hasColour(context.env, stream) ? paint : (_, text) => text;
}

export function hasColour(env: Context['env'], stream: Output): boolean {
  return stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
}
