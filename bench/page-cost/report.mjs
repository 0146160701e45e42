/** From the runs of one site to a row for each subject: medians of what a page cost, start-up taken off. */
import Table from 'cli-table3';
import { median } from '../median.mjs';

/** What Redis may take a page of up to 160 links, mostly seen. */
const MOST_REDIS_MS = 0.12;
const MOST_READS = 2;

/** @param rounds one { one, whole } a round: a run of one page, and one of the site. */
export function rowOf(site, subject, rounds) {
  const perPage = (name) =>
    median(rounds.map(({ one, whole }) => (whole[name] - one[name]) / (whole.pages - one.pages)));
  const of = (name) => median(rounds.map(({ whole }) => whole[name]));
  return {
    site,
    subject,
    pages: of('pages'),
    pagesPerSecond: 1000 / perPage('ms'),
    cpuMsPerPage: perPage('cpuMs'),
    redisMsPerPage: perPage('redisMs'),
    readsPerPage: perPage('redisReads'),
    redisBytesPerPage: perPage('redisBytes'),
    maxRssMb: of('maxRssMb'),
  };
}

/** Say of each row how it stands to the floor of its site, and whether that is within its bound, 1.0 × on Redis and 1.15 × embedded. */
export function compare(rows) {
  return rows.map((row) => {
    const floor = rows.find(({ site, subject }) => site === row.site && subject === 'bare loop');
    const ratio = row.cpuMsPerPage / floor.cpuMsPerPage;
    const within = ratio <= (row.subject === 'embedded' ? 1.15 : 1);
    return { ...row, ratio, within };
  });
}

/** Figures beyond their bounds are marked. */
export function tableOf(rows) {
  const head = [
    'site',
    'subject',
    'pages',
    'CPU ms/page',
    '× bare',
    'pages/s',
    'redis ms/page',
    'reads/page',
    'bytes/page',
    'RSS MB',
  ];
  const table = new Table({ head, style: { head: [], border: [] } });
  const shown = (value, digits, most = Number.POSITIVE_INFINITY) =>
    Number.isFinite(value) ? `${value.toFixed(digits)}${value > most ? ' !' : ''}` : '';
  for (const row of rows) {
    table.push([
      row.site,
      row.subject,
      row.pages,
      shown(row.cpuMsPerPage, 2),
      `${shown(row.ratio, 2)}${row.within ? '' : ' !'}`,
      shown(row.pagesPerSecond, 0),
      shown(row.redisMsPerPage, 3, MOST_REDIS_MS),
      shown(row.readsPerPage, 2, MOST_READS),
      shown(row.redisBytesPerPage, 0),
      shown(row.maxRssMb, 0),
    ]);
  }
  return table.toString();
}
