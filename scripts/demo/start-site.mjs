// The demo's end of the site process: start it, ask it, end it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** @returns `{ origins, urls }` of the site, `ask('log' | 'count')`, and `stop()`. */
export async function startSite() {
  const child = fork(fileURLToPath(new URL('site.mjs', import.meta.url)));
  const next = () =>
    Promise.race([
      once(child, 'message').then(([message]) => message),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the demo's site ended with ${code}`))),
    ]);
  const { origins, urls } = await next();

  // One question at a time, so that an answer cannot be taken for another's.
  let turn = Promise.resolve();
  const ask = (question) => {
    turn = turn.then(() => {
      const answer = next();
      child.send(question);
      return answer;
    });
    return turn;
  };
  return {
    origins,
    urls,
    ask,
    stop: () => {
      if (child.connected) child.disconnect();
    },
  };
}
