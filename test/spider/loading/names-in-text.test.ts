/** Names of spiders, read from the text of their modules. */
import { describe, expect, it } from 'vitest';
import { nameInText } from '../../../src/spider/loading/names-in-text.js';

describe('the name of a spider in the text of its module', () => {
  it.each([
    ['a field', "export default class A extends Spider {\n  name = 'shop';\n}", 'shop'],
    [
      'a field with a type and modifiers',
      'export default class A {\n  override readonly name: string = "shop";\n}',
      'shop',
    ],
    [
      'a class on one line',
      "export default class A extends Spider { startUrls = []; name = 'shop'; }",
      'shop',
    ],
    [
      'a class that is exported below',
      "class A extends Spider {\n  name = 'shop';\n}\nexport default A;",
      'shop',
    ],
    [
      'the class that is exported, of several',
      "class Base extends Spider {\n  name = 'base';\n}\nexport default class A extends Base {\n  name = 'shop';\n}",
      'shop',
    ],
    ['no variable', "const name = 'no';\nexport default class A extends Base {}", 'file'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a module
    ['a name that is computed: that of the file', 'export default class A { name = `shop-${x}`; }', 'file'],
    ['a name that is none', "export default class A { name = 'a b'; }", null],
    ['no spider', "export const name = 'shop';", null],
  ])('%s', (_, text, name) => {
    expect(nameInText(text, 'file')).toBe(name);
  });
});
