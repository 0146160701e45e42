/** Gives a server, or each master of a Cluster, the library of this version. */
import type { Redis } from 'ioredis';
import { messageOf } from '../../errors.js';
import type { Client } from './connection.js';
import { library } from './library.js';
import { isFull, LibraryNeedsMemory } from './what-redis-says.js';

/**
 * @param client of a Cluster all masters are given it: a FUNCTION LOAD without keys goes to any one of them.
 * @throws LibraryNeedsMemory where the server is full: Redis loads nothing then.
 */
export async function loadLibrary(client: Client): Promise<void> {
  const servers = 'nodes' in client ? client.nodes('master') : [client];
  await Promise.all(servers.map(loadInto));
}

/** Without REPLACE: under one name there is only ever one text. */
async function loadInto(server: Redis): Promise<void> {
  try {
    await server.function('LOAD', library().text);
  } catch (error) {
    if (isFull(error)) throw new LibraryNeedsMemory(error);
    if (!/already exists/.test(messageOf(error))) throw error;
  }
}
