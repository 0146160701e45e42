/** Settings of a project's own: a zod object whose fields are settings beside those of crawlnode. */
import { SettingsError } from '../../errors.js';
import { type Definition, define } from '../kinds.js';
import { definitionOf } from '../schema.js';
import {
  type Checked,
  checkField,
  type FieldIssue,
  type FieldType,
  isSchema,
  issueText,
  type ObjectType,
  problemOfThrown,
  valueOfText,
} from './own-value.js';

/** The settings that a project declares. */
export interface OwnSettings {
  /** Names the schema in messages: the value of SETTINGS_SCHEMA. */
  readonly where: string;
  /** In the order of the schema. */
  readonly definitions: ReadonlyMap<string, OwnDefinition>;
  /**
   * Check the values with each other, by the refinements of the whole schema.
   * @param given values as they were written, by name @returns the name that a problem is about, if any, and its text
   */
  problems(
    given: Readonly<Record<string, unknown>>,
  ): { readonly name: string | null; readonly text: string }[];
}

/** A setting of one's own. */
export interface OwnDefinition extends Definition<unknown, unknown> {
  /** Whether it has neither a default nor is optional. */
  readonly required: boolean;
  /** Check a value; the problem is that of its type alone, without name and value. */
  check(value: unknown): Checked;
}

/** The definition of a setting of crawlnode or of the project; null for an unknown name. */
export function settingDefinition(
  name: string,
  own: OwnSettings | null,
): Definition<unknown, unknown> | null {
  return definitionOf(name) ?? own?.definitions.get(name) ?? null;
}

/** As an environment variable is usually written, so that `-s` and the environment can name every setting. */
const namePattern = /^[A-Z][A-Z0-9_]*$/;
/** Names whose values are masked unless the schema says `.meta({ secret: false })`. */
const secretName = /secret|(^|_)(pass(word|wd|phrase)?|token|key|credential|authorization|cookie)s?$/i;

/**
 * The settings that a schema declares.
 * @param where names the schema in messages
 * @throws SettingsError for a schema that is no zod object, and for names that cannot be used
 */
export function ownSettings(schema: unknown, where: string): OwnSettings {
  if (!isSchema(schema)) {
    throw new SettingsError(
      `SETTINGS_SCHEMA: ${where} has to export a zod object by default: export default z.object({ SHOP_PAGES: z.int().default(10) })`,
    );
  }
  const problems = Object.entries(schema.shape).flatMap(([name, type]) => fieldProblem(name, type));
  if (problems.length > 0) throw new SettingsError(problems.map((each) => `${where}: ${each}`).join('\n'));
  return {
    where,
    definitions: new Map(
      Object.entries(schema.shape).map(([name, type]) => [name, definitionFor(name, type, where)]),
    ),
    problems: (given) => problemsOf(schema, given),
  };
}

function fieldProblem(name: string, type: Partial<FieldType> | null | undefined): string[] {
  if (definitionOf(name) !== null)
    return [`${name} is a setting of crawlnode; choose another name, such as SHOP_${name}`];
  if (!namePattern.test(name))
    return [`${JSON.stringify(name)} cannot name a setting: use capital letters, digits and underscores`];
  if (typeof type?.safeParse === 'function') return [];
  return [`${name} is no type of zod: give one, such as z.string()`];
}

function definitionFor(name: string, type: FieldType, where: string): OwnDefinition {
  const absent = checkField(type, undefined);
  const meta = type.meta?.() ?? {};
  // Only `safeParse` of it is called, which every version of zod has.
  const zod = type as unknown as OwnDefinition['zod'];
  const options = {
    default: absent.ok ? absent.value : undefined,
    unit: typeof meta.unit === 'string' ? meta.unit : '',
  };
  return {
    ...define(zod, `what ${where} declares`, options, (text) => valueOfText(type, text)),
    required: !absent.ok,
    check: (value) => checkField(type, value),
    secret: typeof meta.secret === 'boolean' ? meta.secret : secretName.test(name),
  };
}

function problemsOf(schema: ObjectType, given: Readonly<Record<string, unknown>>) {
  try {
    const { error } = schema.safeParse(given);
    return (error?.issues ?? []).map((issue) => problemOf(schema, issue));
  } catch (error) {
    return [{ name: null, text: problemOfThrown(error) }];
  }
}

function problemOf(schema: ObjectType, issue: FieldIssue) {
  const [first, ...within] = issue.path;
  if (typeof first !== 'string' || !Object.hasOwn(schema.shape, first))
    return { name: null, text: issueText(issue) };
  return { name: first, text: issueText({ ...issue, path: within }) };
}
