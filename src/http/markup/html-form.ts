/**
 * What a browser submits for a form of a page. Source: HTML standard, "Constructing the entry list" and "Form submission
 * algorithm". Texts are encoded as UTF-8, whatever the charset of the page. Files are left out.
 */
import { isTag } from 'domhandler';
import { InvalidRequestError } from '../../errors.js';
import { TooComplexError } from '../node-budget.js';
import { replacedInPieces, withSingleSpaces } from '../text-memory.js';
import { countedText } from './css/match-budget.js';
import type { Element } from './markup-tree.js';
import type { SelectorList } from './selector.js';

/** Names and values of all fields. A page that carries its state in a hidden field has a few MB at most. */
const MAX_FORM_CHARACTERS = 8_000_000;

/** The part of a Response that a form needs. */
export interface FormPage {
  readonly url: string;
  css(selector: string): SelectorList;
  urljoin(href: string): string;
}

/** Which form is submitted, and by which button. */
export interface FormChoice {
  /** CSS selector of the form, or of anything inside it. The default is the first form of the page. */
  readonly selector?: string;
  /** CSS selector of the button, within the page; false for none. The default is the first submit button of the form. */
  readonly click?: string | false;
}

/** Name and value of a field. */
export type Field = readonly [name: string, value: string];

export interface Submission {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** In document order. */
  readonly fields: readonly Field[];
  /** The form asks for `multipart/form-data`. */
  readonly isMultipart: boolean;
}

/** @throws InvalidRequestError when the page has no such form or button, or the form leads to no URL */
export function submissionOf(page: FormPage, { selector = 'form', click }: FormChoice): Submission {
  const form = findForm(page, selector);
  const isShut = inherited(disabledByItsPlace());
  const controls = controlsOf(page, form).filter(
    (control) => !('disabled' in control.attribs) && !isShut(control),
  );
  const button = findButton(page, controls, click);
  const setting = (name: string) => button?.attribs[`form${name}`] ?? form.attribs[name] ?? '';
  const action = setting('action').trim();
  const method = setting('method').trim().toLowerCase() === 'post' ? 'POST' : 'GET';
  const read = characterBudget();
  const spend = characterBudget();
  const fields: Field[] = [];
  for (const control of controls) {
    for (const [name, value] of fieldsOf(control, control === button, read)) {
      spend(name.length + value.length);
      fields.push([name, value]);
    }
  }
  return {
    url: action === '' ? page.url : page.urljoin(action),
    method,
    fields,
    isMultipart: method === 'POST' && setting('enctype').trim().toLowerCase() === 'multipart/form-data',
  };
}

/** A browser would send them all, but each character may become nine bytes. */
function characterBudget(): (characters: number) => void {
  let left = MAX_FORM_CHARACTERS;
  return (characters) => {
    left -= characters;
    if (left >= 0) return;
    const most = MAX_FORM_CHARACTERS.toLocaleString('en');
    throw new TooComplexError('too_complex', `the fields of the form have more than ${most} characters`);
  };
}

function findForm(page: FormPage, selector: string): Element {
  const isInForm = inherited(({ name }) => name === 'form' || undefined);
  for (const element of page.css(selector).elements()) {
    if (!isInForm(element)) continue;
    for (let at: Element | null = element; at !== null; at = parentOf(at)) if (at.name === 'form') return at;
  }
  throw new InvalidRequestError(`fromForm(): no form on ${page.url} matches ${JSON.stringify(selector)}.`);
}

/** The controls of a form in document order: those inside it, and those elsewhere that name it in `form`. */
function controlsOf(page: FormPage, form: Element): Element[] {
  const { id } = form.attribs;
  const isInside = inherited((element) => element === form || undefined);
  return page
    .css('input, button, select, textarea')
    .elements()
    .filter((control) => {
      const owner = control.attribs.form;
      return owner === undefined ? isInside(control) : id !== undefined && owner === id;
    });
}

function findButton(
  page: FormPage,
  controls: readonly Element[],
  click: FormChoice['click'],
): Element | null {
  if (click === false) return null;
  const buttons = controls.filter(isSubmitButton);
  if (click === undefined) return buttons[0] ?? null;
  const wanted = new Set(page.css(click).elements());
  const button = buttons.find((each) => wanted.has(each));
  if (button !== undefined) return button;
  throw new InvalidRequestError(
    `fromForm(): no submit button of the form on ${page.url} matches ${JSON.stringify(click)}.`,
  );
}

function isSubmitButton(control: Element): boolean {
  const type = typeOf(control);
  if (control.name === 'button') return type === 'submit';
  return control.name === 'input' && (type === 'submit' || type === 'image');
}

function typeOf({ name, attribs }: Element): string {
  const type = attribs.type?.toLowerCase();
  if (name !== 'button') return type ?? 'text';
  return type === 'reset' || type === 'button' ? type : 'submit';
}

/** @param read is called with the length of each text before it is changed */
function fieldsOf(control: Element, isClicked: boolean, read: (characters: number) => void): Field[] {
  const { name, value } = control.attribs;
  const type = typeOf(control);
  if (control.name === 'input' && type === 'image') {
    const prefix = name ? `${name}.` : '';
    return isClicked ? [[`${prefix}x`, '0'] as const, [`${prefix}y`, '0'] as const] : [];
  }
  if (!name) return [];
  switch (control.name) {
    case 'select':
      return selectedOptions(control).map((option) => [name, optionValue(option, read)]);
    case 'textarea':
      return [[name, withNetworkLineEnds(textOf(control, read).replace(/^\r?\n/, ''))]];
    case 'button':
      return isClicked ? [[name, value ?? '']] : [];
    default:
      return inputFields(name, value, type, control, isClicked);
  }
}

function inputFields(
  name: string,
  value: string | undefined,
  type: string,
  control: Element,
  isClicked: boolean,
): Field[] {
  switch (type) {
    case 'checkbox':
    case 'radio':
      return 'checked' in control.attribs ? [[name, value ?? 'on']] : [];
    case 'submit':
      return isClicked ? [[name, value ?? '']] : [];
    case 'button':
    case 'reset':
    case 'file':
      return [];
    case 'hidden':
      return [[name, name === '_charset_' ? 'UTF-8' : (value ?? '')]];
    default:
      return [[name, value ?? '']];
  }
}

function selectedOptions(select: Element): Element[] {
  const options = optionsOf(select).filter((option) => !isDisabledOption(option));
  const selected = options.filter((option) => 'selected' in option.attribs);
  if ('multiple' in select.attribs) return selected;
  // Of one that is shown as a closed list, the last selected option counts, else the first.
  const only = selected.at(-1) ?? (Number(select.attribs.size ?? 1) > 1 ? undefined : options[0]);
  return only === undefined ? [] : [only];
}

/** In document order, without those of a select inside it, as the standard has it. */
function optionsOf(select: Element): Element[] {
  const options: Element[] = [];
  const stack = select.children.toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!isTag(node) || node.name === 'select') continue;
    if (node.name === 'option') options.push(node);
    for (const child of node.children.toReversed()) stack.push(child);
  }
  return options;
}

function optionValue(option: Element, read: (characters: number) => void): string {
  return option.attribs.value ?? withSingleSpaces(textOf(option, read), /[\t\n\f\r ]+/g).trim();
}

function textOf(element: Element, read: (characters: number) => void): string {
  const text = countedText(element, 'fromForm()');
  read(text.length);
  return text;
}

function isDisabledOption(option: Element): boolean {
  const parent = parentOf(option);
  return 'disabled' in option.attribs || (parent?.name === 'optgroup' && 'disabled' in parent.attribs);
}

/** Disabled by a fieldset (but not in its first legend), or inside a datalist. */
function disabledByItsPlace(): (element: Element) => true | undefined {
  const firstLegends = new Map<Element, Element | undefined>();
  const firstLegend = (fieldset: Element): Element | undefined => {
    if (!firstLegends.has(fieldset)) {
      const legend = fieldset.children.find((child) => isTag(child) && child.name === 'legend');
      firstLegends.set(fieldset, legend as Element | undefined);
    }
    return firstLegends.get(fieldset);
  };
  return (element) => {
    const parent = parentOf(element);
    if (parent?.name === 'datalist') return true;
    const isOff = parent?.name === 'fieldset' && 'disabled' in parent.attribs;
    return (isOff && element !== firstLegend(parent)) || undefined;
  };
}

/**
 * A test of an element that holds for all within it. Each element is looked at once, however many controls are within it.
 * @param holds true where it does by the element alone
 */
function inherited(holds: (element: Element) => true | undefined): (element: Element) => boolean {
  const known = new Map<Element, boolean>();
  return (element) => {
    const path: Element[] = [];
    let answer: boolean | undefined;
    for (let at: Element | null = element; at !== null && answer === undefined; at = parentOf(at)) {
      answer = known.get(at) ?? holds(at);
      path.push(at);
    }
    for (const each of path) known.set(each, answer ?? false);
    return answer ?? false;
  };
}

function parentOf(element: Element): Element | null {
  const { parent } = element;
  return parent !== null && isTag(parent) ? parent : null;
}

function withNetworkLineEnds(text: string): string {
  return replacedInPieces(text, (piece) => piece.replace(/\r\n?|\n/g, '\r\n'));
}
