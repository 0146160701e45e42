/** Where in the page somebody is: `#/`, `#/shop@night`, `#/shop@night/domains?sort=slow`. */
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  /** Null for the view of all crawls. */
  readonly crawl: string | null;
  readonly view: string;
  readonly query: URLSearchParams;
}

export function crawlLink(crawl: string, view = '', query: Readonly<Record<string, string>> = {}): string {
  const rest = new URLSearchParams(query).toString();
  return `#/${encodeURIComponent(crawl)}${view === '' ? '' : `/${view}`}${rest === '' ? '' : `?${rest}`}`;
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [crawl = '', view = ''] = path.split('/');
  return { crawl: crawl === '' ? null : decoded(crawl), view, query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
