/** The heartbeat's thread from its bundle: it holds little more than a frontier. */
import { loadBundle } from './load-bundle.js';

/** By then it has connected and beaten once. */
const KEEP_AFTER_MS = 1_000;

loadBundle('heartbeat', KEEP_AFTER_MS, {});
