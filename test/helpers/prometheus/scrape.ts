/** Reads what a command serves at METRICS_PORT. */

import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';

/** A port of 127.0.0.1 that was free. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Ask for a path. @returns status 0 where nobody answers */
export function ask(
  port: number,
  path: string,
  { method = 'GET', host = '127.0.0.1' } = {},
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve) => {
    const headers = { host };
    const request = http.request({ port, host: '127.0.0.1', path, method, headers, agent: false });
    request.on('error', () => resolve({ status: 0, text: '' }));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.end();
  });
}

/** The sum of all samples of a metric, whatever their other labels. */
export function sumOf(text: string, name: string, label = ''): number {
  const samples = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(label));
  return samples.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
}
