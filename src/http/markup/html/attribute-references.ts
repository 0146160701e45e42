/**
 * Character references in the value of an attribute (HTML standard §13.2.5.73): a name without its semicolon counts only
 * where no letter, digit or equals sign follows, so `?a=1&lt=2` and `?x&ltid=3` stay as they are. `decodeHTMLAttribute`
 * of entities 7 decodes the second.
 */
import { decodeHTML, decodeHTMLStrict } from 'entities/decode';

const REFERENCE = /&(?:#[xX]?[\da-fA-F]+;?|[a-zA-Z][a-zA-Z\d]*(?:;|=)?)/g;

export function decodeAttribute(value: string): string {
  return value.replace(REFERENCE, (reference) => {
    if (reference.charCodeAt(1) === 0x23 /* # */) return decodeHTML(reference);
    if (reference.endsWith(';')) return decodeHTMLStrict(reference);
    if (reference.endsWith('=')) return reference;
    // Every reference that may lack its semicolon is one character; a longer answer decoded only its beginning.
    const decoded = decodeHTML(reference);
    return decoded.length === 1 ? decoded : reference;
  });
}
