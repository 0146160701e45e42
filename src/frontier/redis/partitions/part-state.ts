/** The state of one partition, which its lease answers bring. */
import type { Budgets, LeaseAnswer } from '../../frontier.js';
import { parseBudgets } from '../join.js';

export interface PartState {
  readonly epoch: string;
  /** The id of this partition's crawl. */
  readonly crawlId: string;
  /** Requests that it has accepted for pages of other partitions. It only rises, unless its server lost writes. */
  readonly fromOthers: number;
  /** It differs if anything was accepted or has ended since an earlier one. */
  readonly mark: string;
  /** Requests leased by any node. */
  readonly leased: number;
  /** Pending and delayed requests. */
  readonly waiting: number;
  readonly runPages: number;
  readonly runItems: number;
  readonly runErrors: number;
  /** Of the pages granted to this partition; null for no limit. */
  readonly pagesLeft: number | null;
  /** Of the run. */
  readonly budgets: Budgets;
  /** The version of the cookies that its requests may depend on. */
  readonly jarsAt: number;
  /** This node is waiting to process a suspect here, and must take no other request. */
  readonly isVolunteer: boolean;
  /** Transfers of seeds that wait in partition 0. */
  readonly transfers: number;
}

/** The answer to a lease in a partition. */
export interface PartLeases extends LeaseAnswer {
  readonly part: PartState;
}

/** @param state as `lua/partitions/partition.lua` describes it. */
export function readPartState(state: Omit<PartState, 'budgets'> & { readonly budgets: string }): PartState {
  return { ...state, budgets: parseBudgets(state.budgets) };
}
