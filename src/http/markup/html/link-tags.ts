/** Elements whose `href` is a link to follow. `plain-outline.ts` finds them by the letter they begin with, an `a`. */
export const linkTags: readonly string[] = ['a', 'area'];
