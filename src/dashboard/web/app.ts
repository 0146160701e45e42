/** The page: who is signed in, where one is, and the view of that. */
import { html, render } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CrawlStats } from '../../crawler/stats/crawl-stats.js';
import './app.css';
import { CrawlsView } from './crawls-view.js';
import { Domains } from './domains-view.js';
import { Failed } from './failed-view.js';
import { crawlLink, usePlace } from './links.js';
import { Nodes } from './nodes-view.js';
import { Overview } from './overview.js';
import { Age, Confirm, howManyOf, State, sentence, shown } from './parts.js';
import { Seeds } from './seeds-view.js';
import { crawlPath, post, readSession, type Session, signIn, useNews, whenSignedOut } from './server.js';

const views = ['', 'domains', 'nodes', 'failed', 'seeds'] as const;
const titles: Readonly<Record<string, string>> = {
  '': 'Overview',
  domains: 'Domains',
  nodes: 'Nodes',
  failed: 'Failed',
  seeds: 'Seeds',
};

function App(): VNode {
  const [session, setSession] = useState<Session | null>(null);
  const [problem, setProblem] = useState('');
  const { crawl, view } = usePlace();
  useEffect(() => {
    whenSignedOut(() => setSession({ signedIn: false }));
    readSession().then(setSession, ({ message }) => setProblem(message));
  }, []);
  useEffect(() => {
    document.title = crawl === null ? 'crawlnode' : `${crawl} · crawlnode`;
  }, [crawl]);
  return html`
    <header class="top">
      <a class="home" href="#/"><img src="favicon.svg" alt="" width="24" height="24" /> crawlnode</a>
      ${crawl !== null && session?.signedIn && html`<span class="where" aria-hidden="true">/</span><a class="where" href=${crawlLink(crawl)}>${crawl}</a>`}
      ${session?.version !== undefined && html`<span class="version quiet">${session.version}</span>`}
    </header>
    <main>${
      problem !== ''
        ? html`<p class="notice bad" role="alert">${sentence(problem)}</p>`
        : session === null
          ? html`<p class="quiet" role="status">Loading …</p>`
          : !session.signedIn
            ? html`<${SignIn} onIn=${setSession} />`
            : crawl === null
              ? html`<${CrawlsView} />`
              : html`<${CrawlView} key=${crawl} crawl=${crawl} view=${view} allowActions=${session.allowActions === true} />`
    }</main>`;
}

function SignIn({ onIn }: { readonly onIn: (session: Session) => void }): VNode {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    signIn(token.trim()).then(onIn, ({ message }) => setProblem(message));
  };
  return html`<form class="sign-in" onSubmit=${submit}>
    <h1>Sign in</h1>
    <label for="token">Token</label>
    <input id="token" type="password" autocomplete="current-password" value=${token} autofocus
      onInput=${(event: { currentTarget: HTMLInputElement }) => setToken(event.currentTarget.value)} />
    <p class="quiet">It is in the file that <code>crawlnode dashboard --token-file</code> was given.</p>
    <button class="main">Sign in</button>
    ${problem !== '' && html`<p class="bad" role="alert">${sentence(problem)}</p>`}
  </form>`;
}

interface CrawlViewProps {
  readonly crawl: string;
  readonly view: string;
  readonly allowActions: boolean;
}

function CrawlView({ crawl, view, allowActions }: CrawlViewProps): VNode {
  const news = useNews<CrawlStats>(crawl);
  const content = (stats: CrawlStats) => {
    const props = { crawl, stats, allowActions };
    if (view === 'domains') return html`<${Domains} ...${props} />`;
    if (view === 'nodes') return html`<${Nodes} ...${props} />`;
    if (view === 'failed') return html`<${Failed} ...${props} />`;
    if (view === 'seeds') return html`<${Seeds} ...${props} />`;
    return html`<${Overview} ...${props} />`;
  };
  return html`<${Age} ...${news} />
    <div class="head">
      <h1>${crawl} ${news.data !== null && html`<${State} state=${news.data.state} />`}</h1>
      ${allowActions && news.data !== null && html`<${Orders} crawl=${crawl} stats=${news.data} />`}
    </div>
    <nav class="tabs" aria-label="Views of the crawl">${views.map(
      (each) =>
        html`<a href=${crawlLink(crawl, each)} aria-current=${each === view ? 'page' : undefined}>${titles[each]}${tabCount(each, news.data)}</a>`,
    )}</nav>
    ${shown(news, content)}`;
}

function tabCount(view: string, stats: CrawlStats | null): VNode | null {
  if (stats === null) return null;
  const count = { nodes: stats.nodes.length, failed: stats.failed }[view] ?? 0;
  return count === 0 ? null : html` <span class="count">${howManyOf(count)}</span>`;
}

/** Pause, resume and stop; a stop is asked about, since nodes end by it. */
function Orders({ crawl, stats }: { readonly crawl: string; readonly stats: CrawlStats }): VNode {
  const [said, setSaid] = useState('');
  const [isAsked, setAsked] = useState(false);
  const order = (action: string) =>
    post<{ nodes: number }>(`${crawlPath(crawl)}/${action}`, {}).then(
      () => setSaid(''),
      ({ message }) => setSaid(message),
    );
  const { control, nodes } = stats;
  return html`<div class="buttons">
    <span class="bad" role="status">${said && sentence(said)}</span>
    ${
      control === 'paused'
        ? html`<button class="main" onClick=${() => order('resume')}>Resume</button>`
        : html`<button disabled=${stats.state === 'not_begun'} onClick=${() => order('pause')}>Pause</button>`
    }
    <button disabled=${nodes.length === 0} onClick=${() => setAsked(true)}>Stop</button>
    ${
      isAsked &&
      html`<${Confirm} title=${`Stop ${crawl}?`} verb="Stop the nodes"
        text="Nodes finish their pages and end. Pending requests stay for the next crawl."
        onEnd=${(isConfirmed: boolean) => {
          setAsked(false);
          if (isConfirmed) void order('stop');
        }} />`
    }
  </div>`;
}

render(html`<${App} />`, document.body);
