import assert from 'node:assert/strict';
import { ElicitationSchema } from '../../../src/protocol/inbox.js';
import { fieldsOf, type Field } from '../../../src/deck/inbox/form_fields.js';
import { choicesMisfit, numberMisfit, textMisfit } from '../../../src/deck/inbox/form_rules.js';

const fields = (properties: object, required: string[] = []): Field[] =>
  fieldsOf(ElicitationSchema.parse({ type: 'object', properties, required }));
const is =
  <K extends Field['kind']>(kind: K) =>
  (field: Field): field is Extract<Field, { kind: K }> =>
    field.kind === kind;
function only<K extends Field['kind']>(kind: K, property: object, required = false) {
  const [field] = fields({ field: property }, required ? ['field'] : []).filter(is(kind));
  assert.ok(field, `no ${kind} field`);
  return field;
}

describe('the fields of a form', () => {
  it('come in the order of the schema, each of its kind', () => {
    const all = fields(
      {
        name: { type: 'string', title: 'Your name', description: 'As on the badge' },
        age: { type: 'integer', minimum: 0 },
        ratio: { type: 'number', default: 0.5 },
        sure: { type: 'boolean', default: true },
        color: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'], default: 'g' },
        size: { type: 'string', oneOf: [{ const: 's', title: 'Small', description: 'fits a pocket' }] },
        tags: { type: 'array', items: { type: 'string', enum: ['x', 'y'] }, default: ['y'], maxItems: 1 },
        kinds: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
      },
      ['name'],
    );
    assert.deepEqual(
      all.map(({ kind }) => kind),
      ['text', 'number', 'number', 'boolean', 'choice', 'choice', 'choices', 'choices'],
    );
    assert.deepEqual(
      all.map(({ required }) => required),
      [true, false, false, false, false, false, false, false],
    );
    assert.equal(all[0]?.label, 'Your name');
    const color = all[4];
    assert.ok(color?.kind === 'choice');
    assert.deepEqual(
      color.choices.map(({ value, label }) => [value, label]),
      [
        ['r', 'Red'],
        ['g', 'Green'],
      ],
    );
    assert.equal(color.initial, 'g');
    const tags = all[6];
    assert.ok(tags?.kind === 'choices');
    assert.deepEqual(tags.initial, ['y']);
  });

  it('are hidden while typed where they are secret', () => {
    assert.equal(only('text', { type: 'string' }).secret, false);
    assert.equal(only('text', { type: 'string', format: 'password' }).secret, true);
    assert.equal(only('text', { type: 'string', writeOnly: true }).secret, true);
    const [field] = fields({ apiKey: { type: 'string' } });
    assert.ok(field?.kind === 'text' && field.secret);
  });

  it('are asked for as text where their kind is not known or does not fit', () => {
    assert.equal(only('text', { type: 'hologram' }).initial, undefined);
    assert.equal(only('text', { type: 'string', minLength: 'many', default: 7 }).minLength, undefined);
    assert.equal(only('number', { type: 'number', default: 'seven' }).initial, undefined);
  });
});

describe('what a form takes', () => {
  it('is a text within its limits', () => {
    const field = only('text', { type: 'string', minLength: 2, maxLength: 3, pattern: '^[a-z👋]+$' }, true);
    assert.deepEqual(textMisfit(field, ''), { rule: 'required' });
    assert.deepEqual(textMisfit(field, 'a'), { rule: 'minLength', limit: 2 });
    assert.deepEqual(textMisfit(field, 'abcd'), { rule: 'maxLength', limit: 3 });
    assert.deepEqual(textMisfit(field, 'AB'), { rule: 'pattern' });
    assert.equal(textMisfit(field, 'a👋b'), undefined);
    assert.equal(textMisfit(only('text', { type: 'string', minLength: 2 }), ''), undefined);
    assert.equal(textMisfit(only('text', { type: 'string', pattern: '(' }), 'x'), undefined);
  });

  it('is a text in its format', () => {
    const good: [string, string][] = [
      ['email', 'a@b.c'],
      ['uri', 'https://a.b/c'],
      ['date', '2026-02-28'],
      ['date-time', '2026-02-28T10:00:00Z'],
      ['color', 'anything'],
    ];
    for (const [format, text] of good)
      assert.equal(textMisfit(only('text', { type: 'string', format }), text), undefined, format);
    const bad: [string, string][] = [
      ['email', 'a b@c'],
      ['uri', 'not a uri'],
      ['date', '2026-02-30'],
      ['date-time', '10 o’clock'],
    ];
    for (const [format, text] of bad)
      assert.deepEqual(textMisfit(only('text', { type: 'string', format }), text), { rule: format }, format);
  });

  it('is a number within its limits, whole where asked', () => {
    const field = only('number', { type: 'integer', minimum: 1, maximum: 5 }, true);
    assert.deepEqual(numberMisfit(field, ' '), { rule: 'required' });
    assert.deepEqual(numberMisfit(field, 'two'), { rule: 'number' });
    assert.deepEqual(numberMisfit(field, 'Infinity'), { rule: 'number' });
    assert.deepEqual(numberMisfit(field, '1.5'), { rule: 'integer' });
    assert.deepEqual(numberMisfit(field, '0'), { rule: 'minimum', limit: 1 });
    assert.deepEqual(numberMisfit(field, '6'), { rule: 'maximum', limit: 5 });
    assert.equal(numberMisfit(field, ' 5 '), undefined);
  });

  it('is as many choices as asked for', () => {
    const field = only('choices', {
      type: 'array',
      items: { enum: ['a', 'b', 'c'] },
      minItems: 2,
      maxItems: 2,
    });
    assert.equal(choicesMisfit(field, 0), undefined);
    assert.deepEqual(choicesMisfit(field, 1), { rule: 'minItems', limit: 2 });
    assert.deepEqual(choicesMisfit(field, 3), { rule: 'maxItems', limit: 2 });
    assert.deepEqual(choicesMisfit({ ...field, required: true }, 0), { rule: 'required' });
  });
});
