import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { FormItem } from '../../protocol/inbox.js';
import { contentOf, fieldsOf, problemOf, type Choice, type Field, type Value } from '../form_fields.js';
import type { Questions } from '../questions.js';
import { t } from '../texts.js';

/** So many choices are shown at once; more are a list that opens. */
const SHOWN_CHOICES = 8;

/** Where a form is drawn: ids of its parts begin with `id`. */
interface Place {
  readonly questions: Questions;
  readonly item: FormItem;
  readonly id: string;
  readonly disabled: boolean;
}

const inputOf = (event: Event) => (event.target instanceof HTMLInputElement ? event.target : undefined);

/** What a field holds now, read from the page: secrets stand nowhere else. */
function valueIn(place: Place, field: Field, index: number): Value {
  if (field.kind !== 'text' || !field.secret) return place.questions.value(place.item.id, field);
  const input = document.getElementById(`${place.id}-${String(index)}`);
  return input instanceof HTMLInputElement ? input.value : '';
}

/** Checks every field; sends the form when nothing is wrong, else says what is, at the first of them. */
function submit(place: Place, fields: readonly Field[]): void {
  const { questions, item, id } = place;
  const values = new Map(fields.map((field, index) => [field.name, valueIn(place, field, index)]));
  const value = (field: Field) => values.get(field.name) ?? field.initial;
  const problems = new Map<string, string>();
  for (const field of fields) {
    const problem = problemOf(field, value(field));
    if (problem !== undefined) problems.set(field.name, problem);
  }
  questions.setProblems(item.id, problems);
  const first = fields.findIndex(({ name }) => problems.has(name));
  if (first === -1) void questions.answer(item, { action: 'accept', content: contentOf(fields, value) });
  else document.getElementById(`${id}-${String(first)}`)?.focus();
}

function box(
  place: Place,
  field: Extract<Field, { kind: 'text' | 'number' }>,
  own: string,
  about: unknown,
  invalid: boolean,
): TemplateResult {
  const { questions, item, disabled } = place;
  const secret = field.kind === 'text' && field.secret;
  const type = secret ? 'password' : field.kind === 'text' ? field.input : 'text';
  const value = secret ? nothing : questions.value(item.id, field);
  return html`<input
    class="field"
    id=${own}
    type=${type === 'email' || type === 'url' ? 'text' : type}
    inputmode=${field.kind === 'number' ? (field.whole ? 'numeric' : 'decimal') : type === 'email' || type === 'url' ? type : nothing}
    dir="auto"
    autocomplete=${secret ? 'new-password' : 'off'}
    spellcheck="false"
    aria-describedby=${about}
    aria-invalid=${invalid}
    aria-required=${field.required}
    ?disabled=${disabled}
    .value=${value}
    @input=${(event: Event) => questions.setValue(item.id, field, inputOf(event)?.value ?? '')}
  />`;
}

function choice(
  place: Place,
  field: Extract<Field, { kind: 'one' | 'many' }>,
  own: string,
  { value, title, description }: Choice,
  index: number,
): TemplateResult {
  const { questions, item, disabled } = place;
  const now = questions.value(item.id, field);
  const chosen = Array.isArray(now) ? now.includes(value) : now === value;
  const change = (event: Event) => {
    const on = inputOf(event)?.checked === true;
    const before = questions.value(item.id, field);
    if (field.kind === 'one') questions.setValue(item.id, field, value);
    else if (typeof before !== 'string' && typeof before !== 'boolean') {
      const rest = before.filter((one) => one !== value);
      questions.setValue(item.id, field, on ? [...rest, value] : rest);
    }
  };
  return html`<label class="choice">
    <input
      id=${index === 0 ? own : `${own}-${String(index)}`}
      type=${field.kind === 'one' ? 'radio' : 'checkbox'}
      name=${own}
      .checked=${chosen}
      ?disabled=${disabled}
      @change=${change}
    /><span dir="auto"
      >${title}${description === undefined ? nothing : html`<span class="dim about">${description}</span>`}</span
    >
  </label>`;
}

function list(
  place: Place,
  field: Extract<Field, { kind: 'one' }>,
  own: string,
  about: unknown,
): TemplateResult {
  const { questions, item, disabled } = place;
  const now = questions.value(item.id, field);
  const change = (event: Event) => {
    if (event.target instanceof HTMLSelectElement) questions.setValue(item.id, field, event.target.value);
  };
  return html`<select
    class="field"
    id=${own}
    aria-describedby=${about}
    aria-required=${field.required}
    ?disabled=${disabled}
    @change=${change}
  >
    <option value="" ?selected=${now === ''}></option>
    ${field.choices.map(
      ({ value, title }) => html`<option value=${value} ?selected=${now === value}>${title}</option>`,
    )}
  </select>`;
}

/** A name, what is to be said about it, the way to fill it in, and what is wrong with what is there. */
function row(place: Place, field: Field, index: number): TemplateResult {
  const { questions, item, id, disabled } = place;
  const own = `${id}-${String(index)}`;
  const problem = questions.problemsOf(item.id).get(field.name);
  const about = `${own}-about`;
  const note = html`<span class="about" id=${about}
    >${field.description === undefined ? nothing : html`<span class="dim" dir="auto">${field.description}</span>`}${
      problem === undefined ? nothing : html` <span class="bad">${problem}</span>`
    }</span
  >`;
  const title = html`<bdi>${field.title}</bdi
    >${field.required ? nothing : html` <span class="dim">${t('(optional)')}</span>`}`;
  if (field.kind === 'boolean')
    return html`<div class="f-row">
      <label class="choice"
        ><input
          id=${own}
          type="checkbox"
          aria-describedby=${about}
          .checked=${questions.value(item.id, field) === true}
          ?disabled=${disabled}
          @change=${(event: Event) => questions.setValue(item.id, field, inputOf(event)?.checked === true)}
        /><bdi>${field.title}</bdi></label
      >${note}
    </div>`;
  if (field.kind === 'many' || (field.kind === 'one' && field.choices.length <= SHOWN_CHOICES))
    return html`<fieldset class="f-row" aria-describedby=${about}>
      <legend>${title}</legend>
      ${note}${field.choices.map((one, at) => choice(place, field, own, one, at))}
    </fieldset>`;
  return html`<div class="f-row">
    <label for=${own}>${title}</label>${note}${
      field.kind === 'one'
        ? list(place, field, own, about)
        : box(place, field, own, about, problem !== undefined)
    }
  </div>`;
}

/** A form of an agent, to be filled in where it was asked. */
export function form(place: Place): TemplateResult {
  const { questions, item, disabled } = place;
  const fields = fieldsOf(item.schema);
  const enter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.isComposing || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    event.stopPropagation();
    submit(place, fields);
  };
  return html`<div class="form" role="form" aria-label=${item.message} @keydown=${enter}>
    ${fields.map((field, index) => row(place, field, index))}
    <div class="askb">
      <button class="btn" type="button" ?disabled=${disabled} @click=${() => submit(place, fields)}>
        ${t('Submit')}
      </button>
      <button
        class="btn second"
        type="button"
        ?disabled=${disabled}
        @click=${() => void questions.answer(item, { action: 'decline' })}
      >
        ${t('Decline')}
      </button>
    </div>
  </div>`;
}
