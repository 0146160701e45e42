/** What happens to a request, as a StateDupeFilter records it. */
import type { RequestLife } from '../../frontier.js';

/** What is left out stays as it was. */
export type LifeChange = Pick<RequestLife, 'state'> & Partial<Pick<RequestLife, 'status' | 'attempts'>>;
