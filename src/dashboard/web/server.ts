/** What the page asks of its server: the session, data that is read again and again, live news, and actions. */
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';

export interface Session {
  readonly signedIn: boolean;
  readonly allowActions?: boolean;
  readonly version?: string;
}

/** What a view shows of something that is read. `data` stays while newer data cannot be had. */
export interface Loaded<T> {
  readonly data: T | null;
  /** When it was read, in ms since 1970. */
  readonly atMs: number;
  /** Why there is nothing newer. */
  readonly problem: string | null;
  /** Ask again, as after an action. */
  reload(): void;
}

/** Called when the server asks for a token. */
let onSignedOut: () => void = () => {};

export function whenSignedOut(show: () => void): void {
  onSignedOut = show;
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`api/v1${path}`, init).catch(() => {
    throw new Error('the dashboard does not answer');
  });
  if (response.ok) return response;
  if (response.status === 401 && path !== '/session') onSignedOut();
  const { error } = await response.json().catch(() => ({}));
  throw new Error(error?.message ?? `the dashboard answered ${response.status}`);
}

export async function readSession(): Promise<Session> {
  return (await ask('/session')).json();
}

export async function signIn(token: string): Promise<Session> {
  return post('/session', { token });
}

/** Change something. @throws Error with the sentence of the server */
export async function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json', 'x-crawlnode-action': '1' };
  return (await ask(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

export function crawlPath(crawl: string): string {
  return `/crawls/${encodeURIComponent(crawl)}`;
}

/** Read a path of the API now, and again while somebody looks. */
export function useData<T>(path: string, everyMs: number): Loaded<T> {
  const [loaded, setLoaded] = useState<Omit<Loaded<T>, 'reload'> & { path: string }>(nothing(path));
  const [turn, reload] = useReducer((count: number, _: null) => count + 1, 0);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const read = async () => {
      try {
        if (!document.hidden) {
          const response = await ask(path);
          const data: T = await response.json();
          const atMs = Date.now() - Number(response.headers.get('x-crawlnode-age-ms') ?? 0);
          const isAway = response.headers.get('x-crawlnode-store') === 'away';
          const problem = isAway ? 'the store does not answer' : null;
          if (!isOver) setLoaded({ path, data, atMs, problem });
        }
      } catch (error) {
        const { message } = error as Error;
        if (!isOver)
          setLoaded((last) => ({ ...(last.path === path ? last : nothing<T>(path)), problem: message }));
      }
      if (!isOver) timer = setTimeout(read, everyMs);
    };
    void read();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs, turn]);
  return { ...(loaded.path === path ? loaded : nothing<T>(path)), reload: () => reload(null) };
}

/** The live news of all crawls (null), or of one. */
export function useNews<T>(crawl: string | null): Loaded<T> {
  const [loaded, setLoaded] = useState<Omit<Loaded<T>, 'reload'> & { path: string }>(nothing(''));
  const path = crawl === null ? 'api/v1/stream' : `api/v1/stream?crawl=${encodeURIComponent(crawl)}`;
  const [turn, reload] = useReducer((count: number, _: null) => count + 1, 0);
  const wait = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const source = new EventSource(path);
    const merge = (change: object) =>
      setLoaded((last) => ({ ...(last.path === path ? last : nothing<T>(path)), ...change }));
    source.addEventListener('news', ({ data }) => {
      const { atMs, value } = JSON.parse(data);
      merge({ data: value, atMs });
    });
    source.addEventListener('store', ({ data }) => {
      const { away, message } = JSON.parse(data);
      merge({ problem: away ? message : null });
    });
    source.addEventListener('error', () => {
      merge({ problem: 'the dashboard does not answer' });
      if (source.readyState !== EventSource.CLOSED) return;
      // An answer that is no stream: the token may be needed, or the crawl is gone. The browser does not ask again.
      void ask(crawl === null ? '/crawls' : crawlPath(crawl)).catch(({ message }) =>
        merge({ problem: message }),
      );
      wait.current = setTimeout(() => reload(null), 3_000);
    });
    return () => {
      clearTimeout(wait.current);
      source.close();
    };
  }, [path, turn]);
  return { ...(loaded.path === path ? loaded : nothing<T>(path)), reload: () => reload(null) };
}

function nothing<T>(path: string): { path: string; data: T | null; atMs: number; problem: string | null } {
  return { path, data: null, atMs: 0, problem: null };
}
