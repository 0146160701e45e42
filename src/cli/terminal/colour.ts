/** Colour for results on a terminal. Text is plain in a pipe, and when NO_COLOR is set (no-color.org). */
import { styleText } from 'node:util';
import type { Context, Output } from '../context.js';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours text, or returns it unchanged when the stream has no colour. */
export type Paint = (style: Style, text: string) => string;

export function paintFor(context: Pick<Context, 'env'>, stream: Output): Paint {
  // validateStream is off because styleText would check the streams of this process instead of `stream`.
  const paint: Paint = (style, text) => styleText(style, text, { validateStream: false });
  return hasColour(context.env, stream) ? paint : (_, text) => text;
}

export function hasColour(env: Context['env'], stream: Output): boolean {
  return stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
}
