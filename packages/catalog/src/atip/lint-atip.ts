import type { EffectsDeclaration } from '../effects/effects-declaration.js';
import type { AtipCommand, AtipDocument, AtipOption } from './atip-document.js';

/** A mistake in a document that the schema allows, with its place: probably (`warning`) or certainly (`error`) wrong. */
export type AtipFinding = { level: 'error' | 'warning'; field: string; message: string };

const COMMAND_NAME = /^[A-Za-z0-9][A-Za-z0-9:_.-]*( [A-Za-z0-9][A-Za-z0-9:_.-]*)*$/;

/** Checks what the ATIP schema cannot express. */
export function lintAtip({ description, commands = {}, effects, globalOptions = [] }: AtipDocument): AtipFinding[] {
  return [
    ...blank(description, 'description'),
    ...lintOptions(globalOptions, 'globalOptions'),
    ...lintEffects(effects, 'effects'),
    ...Object.entries(commands).flatMap(([name, command]) => lintCommand(name, command, `commands.${name}`)),
  ];
}

function lintCommand(name: string, command: AtipCommand, field: string): AtipFinding[] {
  const { description, arguments: positionals = [], options = [], effects, commands = {} } = command;
  const variadic = positionals.findIndex((each) => each.variadic);
  const optional = positionals.findIndex((each) => !each.required);
  const late = positionals.findIndex((each, at) => each.required && optional >= 0 && at > optional);
  return [
    ...(name === '' || COMMAND_NAME.test(name)
      ? []
      : [
          error(
            field,
            `${JSON.stringify(name)} cannot be the name of a command: it would be taken for an option or for several words`,
          ),
        ]),
    ...blank(description, `${field}.description`),
    ...positionals.flatMap((each, at) => blank(each.description, `${field}.arguments.${at}.description`)),
    ...(variadic >= 0 && variadic < positionals.length - 1
      ? [
          error(
            `${field}.arguments.${variadic}`,
            'is variadic and not the last: what comes after it can never be told apart',
          ),
        ]
      : []),
    ...(late >= 0 ? [warning(`${field}.arguments.${late}`, 'is required and follows one that is not')] : []),
    ...lintOptions(options, `${field}.options`),
    ...lintEffects(effects, `${field}.effects`),
    ...Object.entries(commands).flatMap(([inner, each]) => lintCommand(inner, each, `${field}.commands.${inner}`)),
  ];
}

function lintOptions(options: readonly AtipOption[], field: string): AtipFinding[] {
  const seen = new Map<string, number>();
  return options.flatMap(({ name, description, flags }, at) => {
    const place = `${field}.${at}`;
    const findings = blank(description, `${place}.description`);
    for (const flag of flags) {
      const before = seen.get(flag);
      if (before !== undefined)
        findings.push(error(`${place}.flags`, `${flag} is a flag of ${options[before]?.name ?? before}, too`));
      seen.set(flag, at);
      if (/^-[^-]{2,}/.test(flag))
        findings.push(
          warning(
            `${place}.flags`,
            `${flag} has one dash and several letters: most programs read ${[...flag.slice(1)].map((each) => `-${each}`).join(' ')}`,
          ),
        );
    }
    if (/\s/.test(name)) findings.push(warning(`${place}.name`, 'has blanks in it; it is the name of an input'));
    return findings;
  });
}

function lintEffects(effects: EffectsDeclaration | undefined, field: string): AtipFinding[] {
  if (effects === undefined) return [];
  const findings: AtipFinding[] = [];
  if (Object.keys(effects).length === 0)
    findings.push(
      warning(field, 'is empty, so that everything counts as dangerous; leave it out, or say what it does'),
    );
  if (effects.destructive === true && effects.reversible === undefined)
    findings.push(warning(`${field}.reversible`, 'is missing where destructive is true, and counts as false'));
  if (effects.filesystem?.delete === true && effects.destructive === false)
    findings.push(warning(`${field}.destructive`, 'is false although it deletes files'));
  return findings;
}

const blank = (text: string, field: string): AtipFinding[] =>
  text.trim() === '' ? [warning(field, 'is empty: a model that is given the tool does not know what it is for')] : [];

const error = (field: string, message: string): AtipFinding => ({ level: 'error', field, message });
const warning = (field: string, message: string): AtipFinding => ({ level: 'warning', field, message });
