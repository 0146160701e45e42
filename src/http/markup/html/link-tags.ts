/** Elements whose `href` is a link to follow. `regex-outline.ts` finds them by the letter they begin with, an `a`. */
export const linkTags: readonly string[] = ['a', 'area'];
