/** Elements of an XML feed, one after the other, from documents of any length and form. */
import { describe, expect, it } from 'vitest';
import { treeElements, xmlElements } from '../../../src/http/markup/xml-elements.js';

const texts = (text: string, name = 'item') => {
  const found: (string | null)[] = [];
  try {
    for (const node of xmlElements(text, name)) found.push(node.css('::text').get());
  } catch (error) {
    found.push(`! ${(error as Error).message}`);
  }
  return found;
};

describe('the elements of an XML document', () => {
  it('come in order, the outermost ones of the name, with CDATA, entities and comments', () => {
    const feed = `<?xml version="1.0"?><!-- <item>no</item> --><rss><channel><title>T</title>
      <item><title>a &amp; b</title><link><![CDATA[https://a.example/?x=1&y=2]]></link></item>
      <item n="2"><title>c<!-- x -->d</title><item>inner</item></item><item/></channel></rss>`;
    const nodes = [...xmlElements(feed, 'item')];
    expect(nodes.map((node) => node.css('title::text').getAll().join(''))).toEqual(['a & b', 'cd', '']);
    expect(nodes[0]?.xpath('link/text()').get()).toBe('https://a.example/?x=1&y=2');
    expect(nodes[0]?.css('link::text').get()).toBe('https://a.example/?x=1&y=2');
    expect(nodes[1]?.attr('n')).toBe('2');
    expect(nodes[1]?.get()).toContain('<item>inner</item>');
    expect(nodes[2]?.get()).toBe('<item/>');
  });

  it('match a name in any namespace, or with the prefix that is given; XPath sees the elements around', () => {
    const feed = `<rss xmlns:g="http://g.example/" lang="en"><g:item><g:id>1</g:id></g:item><item><id>2</id></item></rss>`;
    const ids = (name: string) => [...xmlElements(feed, name)].map((node) => node.xpath('.//*/text()').get());
    expect(ids('item')).toEqual(['1', '2']);
    expect(ids('g:item')).toEqual(['1']);
    const [first] = xmlElements(feed, 'item');
    expect(first?.xpath('g:id/text()').get()).toBe('1');
    expect(first?.xpath('/rss/@lang').get()).toBe('en');
    expect(first?.xpath('//g:item/g:id').length).toBe(1);
  });

  it('are read up to where the document is cut off, and no further', () => {
    expect(texts('<rss><item>1</item><item>2')).toEqual([
      '1',
      '! the XML cannot be read: it ends in the middle',
    ]);
    expect(texts('<rss><item>1</item><item>2</item></rss')).toEqual([
      '1',
      '2',
      '! the XML cannot be read: it ends in the middle',
    ]);
    expect(texts('no XML at all')).toEqual([]);
    expect(texts('')).toEqual([]);
  });

  it('take time linear in a hostile document', () => {
    const deep = `<rss><item>1</item>${'<a>'.repeat(400_000)}`;
    expect(texts(deep)).toEqual(['1', '! the XML cannot be read: it nests elements more than 512 deep']);
    expect(texts(`<rss><item>${'<a>'.repeat(600)}`)).toEqual([
      '! the XML cannot be read: it nests elements more than 512 deep',
    ]);
    const entities = `<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><item>&b;</item></rss>`;
    expect(texts(entities)).toEqual(['&b;']);
    let count = 0;
    for (const _ of xmlElements(`<r>${'<item>x</item>'.repeat(200_000)}</r>`, 'item')) count += 1;
    expect(count).toBe(200_000);
  });

  it('may come from the whole tree, also of HTML', () => {
    const rows = [...treeElements('<table><TR><td>1<tr><td>2</table>', 'tr', false)];
    expect(rows.map((row) => row.css('td::text').get())).toEqual(['1', '2']);
    const nested = [...treeElements('<r><t>x</t><Item><Item/></Item></r>', 'Item', true)];
    expect(nested.map((node) => node.xpath('//t/text()').get())).toEqual(['x', 'x']);
  });
});
