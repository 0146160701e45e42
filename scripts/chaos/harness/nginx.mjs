/** nginx on loopback over one folder, with an access log that names each request. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort, untilListening } from './ports.mjs';

/**
 * It also serves the folder as /copy0/, /copy1/ and so on. With `pagesPerSecond` it answers no more than that.
 * @returns the site's URL, its requests so far as paths or with all that the log says, and how to stop it.
 */
export async function startNginx(root, dir, { pagesPerSecond = 0 } = {}) {
  const port = await freePort();
  const log = path.join(dir, 'access.log');
  const file = path.join(dir, 'nginx.conf');
  await writeFile(
    file,
    `daemon off; pid ${dir}/nginx.pid; error_log ${dir}/error.log; worker_processes 1;
events { worker_connections 512; }
http {
  types { text/html html; text/plain txt; text/css css; application/javascript js; image/png png; }
  default_type application/octet-stream;
  log_format paths '$request_uri $status $msec $request_time $http_user_agent';
  ${pagesPerSecond > 0 ? `limit_req_zone $server_port zone=all:1m rate=${pagesPerSecond}r/s;` : ''}
  access_log ${log} paths;
  client_body_temp_path ${dir}/t1; proxy_temp_path ${dir}/t2; fastcgi_temp_path ${dir}/t3; uwsgi_temp_path ${dir}/t4; scgi_temp_path ${dir}/t5;
  server { listen 127.0.0.1:${port}; root ${root}; index index.html;
    ${pagesPerSecond > 0 ? 'limit_req zone=all burst=100000;' : ''}
    location ~ ^/copy\\d+/(.*)$ { alias ${root}/$1; }
  }
}
`,
  );
  const child = spawn('nginx', ['-c', file, '-e', path.join(dir, 'error.log')], { stdio: 'inherit' });
  await untilListening(port);
  return {
    url: `http://127.0.0.1:${port}/`,
    async requests() {
      const lines = (await readFile(log, 'utf8')).split('\n').filter(Boolean);
      return lines.map((line) => line.split(' ')[0]);
    },
    async log() {
      const lines = (await readFile(log, 'utf8')).split('\n').filter(Boolean);
      return lines.map((line) => {
        const [path, status, endS, tookS, ...agent] = line.split(' ');
        const endMs = Number(endS) * 1_000;
        const times = { startMs: endMs - Number(tookS) * 1_000, endMs };
        return { path, status: Number(status), agent: agent.join(' '), ...times };
      });
    },
    async forget() {
      await writeFile(log, '');
    },
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
