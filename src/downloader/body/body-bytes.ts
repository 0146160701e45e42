/**
 * The bytes of one body while it is received or inflated. The chunks of a small body are kept as they are. Those of a large one
 * are copied into memory of its own, which goes back to the system as soon as the body ends. The chunks themselves would
 * stay in memory until the next full garbage collection, and after it in the pools of malloc (docs/internals/hostile-web.md).
 */

/** Up to this size the chunks are kept. Most bodies are smaller, and are copied only once. */
export const LARGE_FROM_BYTES = 256 * 1024;

/** Address space of a segment. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
/** A segment grows in steps, since it is filled with zeros when it is released. */
const STEP_BYTES = 256 * 1024;

interface ResizableBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}
/** ECMAScript 2024, in every supported Node; TypeScript knows it together with methods that Node 20 lacks. */
const ResizableBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => ResizableBuffer;

export class BodyBytes {
  #chunks: Buffer[] = [];
  #segments: ResizableBuffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Add a chunk, which must not be changed afterwards. */
  add(chunk: Buffer): void {
    const isLarge = this.#segments.length > 0 || this.#length + chunk.length > LARGE_FROM_BYTES;
    if (isLarge) {
      if (this.#chunks.length > 0) this.#moveToSegments();
      this.#copy(chunk);
    } else {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
    }
  }

  /** Remove what comes after the first `bytes`. */
  truncate(bytes: number): void {
    if (bytes >= this.#length) return;
    if (this.#segments.length === 0) {
      const whole = this.take();
      if (bytes > 0) this.add(whole.subarray(0, bytes));
      return;
    }
    const segments = Math.ceil(bytes / SEGMENT_BYTES);
    for (const segment of this.#segments.splice(segments)) segment.resize(0);
    this.#length = bytes;
  }

  /** Remove and return all bytes. */
  take(): Buffer {
    const bytes = this.#segments.length > 0 ? this.#joinedSegments() : this.#joinedChunks();
    this.release();
    return bytes;
  }

  /** Return the memory of a large body to the system. The bytes are lost. */
  release(): void {
    for (const segment of this.#segments) segment.resize(0);
    this.#segments = [];
    this.#chunks = [];
    this.#length = 0;
  }

  #moveToSegments(): void {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#length = 0;
    for (const chunk of chunks) this.#copy(chunk);
  }

  #copy(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      const at = this.#length % SEGMENT_BYTES;
      const isFull = this.#length === this.#segments.length * SEGMENT_BYTES;
      if (isFull) this.#segments.push(new ResizableBuffer(0, { maxByteLength: SEGMENT_BYTES }));
      const segment = this.#segments.at(-1)!;
      const part = chunk.subarray(from, from + SEGMENT_BYTES - at);
      const end = at + part.length;
      if (end > segment.byteLength) segment.resize(Math.ceil(end / STEP_BYTES) * STEP_BYTES);
      new Uint8Array(segment).set(part, at);
      this.#length += part.length;
      from += part.length;
    }
  }

  #joinedChunks(): Buffer {
    const chunks = this.#chunks;
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.#length);
  }

  /** The body in one piece. Each segment is released once it is copied, so there are never two copies of the whole. */
  #joinedSegments(): Buffer {
    const whole = Buffer.allocUnsafeSlow(this.#length);
    for (const [n, segment] of this.#segments.entries()) {
      const at = n * SEGMENT_BYTES;
      whole.set(new Uint8Array(segment, 0, Math.min(SEGMENT_BYTES, this.#length - at)), at);
      segment.resize(0);
    }
    return whole;
  }
}
