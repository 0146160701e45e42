// The demo's end of the site process: start it, ask it, end it.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** @returns `{ origins, urls }` of the site, `ask('take' | 'count')`, and `stop()`. */
export async function startSite() {
  const child = fork(fileURLToPath(new URL('site.mjs', import.meta.url)));
  /** Who waits for an answer, in the order of the questions. */
  const waiting = [];
  let ended = null;
  child.on('message', (message) => waiting.shift()?.resolve(message));
  child.on('exit', (code) => {
    ended = new Error(`the demo's site ended with ${code}`);
    for (const { reject } of waiting.splice(0)) reject(ended);
  });
  const answer = () =>
    new Promise((resolve, reject) => {
      if (ended !== null) reject(ended);
      else waiting.push({ resolve, reject });
    });

  const { origins, urls } = await answer();
  return {
    origins,
    urls,
    ask: (question) => {
      if (ended === null) child.send(question);
      return answer();
    },
    stop: () => {
      if (child.connected) child.disconnect();
    },
  };
}
