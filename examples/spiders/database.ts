/** Start requests from a database, here SQLite: -a database=products.sqlite names a file with the table product(id). */
import { DatabaseSync } from '@photostructure/sqlite';
import { Request, type Response, Spider } from 'crawlnode';

export default class Database extends Spider {
  name = 'database';

  *start() {
    const { site = 'http://127.0.0.1:8000', database = 'products.sqlite' } = this.args;
    const rows = new DatabaseSync(database, { readOnly: true }).prepare('SELECT id FROM product').iterate();
    for (const { id } of rows) yield new Request(`${site}/product/${id}`, { cbKwargs: { id } });
  }

  *parse(response: Response, { id }: { id: number }) {
    yield { id, name: response.css('h1::text').get() };
  }
}
