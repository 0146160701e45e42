/** Whether two readers found the same on a page, and which differences docs/internals/html.md argues. */

/**
 * What counts as found: each link once, in any order, since the standard moves some out of tables; the texts of titles;
 * the base.
 */
export function foundBy({ hrefs, titles, base }, withBase = true) {
  return JSON.stringify([[...new Set(hrefs)].sort(), titles.join(''), ...(withBase ? [base] : [])]);
}

/** Constructs that docs/internals/html.md lists, with why crawlnode reads them otherwise than parse5. */
const LISTED = {
  'CDATA where SVG or MathML holds HTML': /<(?:svg|math)[\s\S]*<!\[CDATA\[/i,
  'a select, which drops tags in parse5': /<select[\s/>]/i,
  'a frameset, which drops the page in parse5': /<frameset[\s/>]/i,
  'an SVG or MathML element whose content is HTML':
    /<(?:svg|math)[\s\S]*<(?:title|desc|foreignobject|mi|annotation-xml)[\s/>]/i,
  'a base in a template that an end tag of an outer element ends': /<template[\s\S]*<base[\s/>]/i,
  'a template in SVG or MathML, or the reverse':
    /<template[\s\S]*<(?:svg|math)|<(?:svg|math)[\s\S]*<template/i,
};

/** @returns null where both found the same */
export function differenceOf(own, expected, html) {
  if (foundBy(own) === foundBy(expected)) return null;
  for (const [reason, construct] of Object.entries(LISTED)) {
    if (construct.test(html)) return { listed: true, reason };
  }
  return { listed: false, reason: `${foundBy(own)}, by parse5 ${foundBy(expected)}` };
}
