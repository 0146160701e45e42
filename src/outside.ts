/** The folder this copy of crawlnode runs from, src/ or dist/. */
export const ownFolder = new URL('.', import.meta.url);
