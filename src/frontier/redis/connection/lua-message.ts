/**
 * Values as `cmsgpack.unpack` of Redis takes them: MessagePack without its types for bytes, which that does not know. Text
 * and bytes are both what Lua calls a string; so a library for MessagePack, which tells the two apart, cannot be used.
 */

export type LuaValue = null | boolean | number | string | Buffer | readonly LuaValue[] | Arguments;

/** What a verb is called with, by name; what is undefined is left out. */
export interface Arguments {
  readonly [name: string]: LuaValue | undefined;
}

/** Short texts are copied by character: a call of `Buffer.write` costs as much as 30 of them. */
const SHORT = 24;

let room = Buffer.allocUnsafe(64 * 1024);
let at = 0;

/** One value as bytes. */
export function luaMessage(value: LuaValue): Buffer {
  at = 0;
  write(value);
  return Buffer.from(room.subarray(0, at));
}

function write(value: LuaValue): void {
  need(9);
  if (value === null) room[at++] = 0xc0;
  else if (typeof value === 'string') writeText(value);
  else if (typeof value === 'number') writeNumber(value);
  else if (typeof value === 'boolean') room[at++] = value ? 0xc3 : 0xc2;
  else if (Buffer.isBuffer(value)) writeBytes(value);
  else if (Array.isArray(value)) {
    writeHead(value.length, 0x90, 15, 0xdc);
    for (const member of value as readonly LuaValue[]) write(member);
  } else writeMap(value as Arguments);
}

function writeMap(map: Arguments): void {
  let count = 0;
  for (const name in map) if (map[name] !== undefined) count += 1;
  writeHead(count, 0x80, 15, 0xde);
  for (const name in map) {
    const value = map[name];
    if (value === undefined) continue;
    need(9);
    writeText(name);
    write(value);
  }
}

function writeNumber(value: number): void {
  if (Number.isInteger(value) && value >= 0 && value < 128) {
    room[at++] = value;
  } else if (Number.isInteger(value) && value >= 0 && value <= 0xffffffff) {
    room[at] = 0xce;
    at = room.writeUInt32BE(value, at + 1);
  } else {
    room[at] = 0xcb;
    at = room.writeDoubleBE(value, at + 1);
  }
}

function writeText(text: string): void {
  const start = at;
  if (text.length < SHORT) {
    need(SHORT);
    room[at++] = 0xa0 | text.length;
    for (let n = 0; n < text.length; n += 1) {
      const code = text.charCodeAt(n);
      if (code > 0x7f) {
        at = start;
        writeBytes(Buffer.from(text));
        return;
      }
      room[at++] = code;
    }
    return;
  }
  const length = Buffer.byteLength(text);
  need(length + 5);
  writeHead(length, 0xa0, 31, 0xda);
  at += room.write(text, at);
}

function writeBytes(bytes: Buffer): void {
  need(bytes.length + 5);
  writeHead(bytes.length, 0xa0, 31, 0xda);
  at += bytes.copy(room, at);
}

/** How long what follows is. @param small type of one of up to `most`, which says so itself; @param large of one of up to 2¹⁶, behind which comes that of one of up to 2³². */
function writeHead(length: number, small: number, most: number, large: number): void {
  if (length <= most) {
    room[at++] = small | length;
  } else if (length <= 0xffff) {
    room[at] = large;
    at = room.writeUInt16BE(length, at + 1);
  } else {
    room[at] = large + 1;
    at = room.writeUInt32BE(length, at + 1);
  }
}

function need(bytes: number): void {
  if (at + bytes <= room.length) return;
  const larger = Buffer.allocUnsafe(Math.max(2 * room.length, at + bytes));
  room.copy(larger, 0, 0, at);
  room = larger;
}
