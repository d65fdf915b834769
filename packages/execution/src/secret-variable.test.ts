import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSecretVariables, secretVariable } from './secret-variable.js';

describe('the environment variable of a secret', () => {
  test.each([
    ['default', 'github_token', 'CAPSTAN_SECRET_GITHUB_TOKEN'],
    ['default', 'github-token', 'CAPSTAN_SECRET_GITHUB_x2DTOKEN'],
    ['default', 'github.token', 'CAPSTAN_SECRET_GITHUB_x2ETOKEN'],
    ['acme', 'token', 'CAPSTAN_SECRET__ACME__TOKEN'],
    ['default', 'acme__token', 'CAPSTAN_SECRET_ACME_x5F_x5FTOKEN'],
    ['my_team', 'Token', 'CAPSTAN_SECRET__MY_TEAM___x54OKEN'],
  ])('of the tenant %s for %s is %s', (tenant, name, variable) => {
    expect(secretVariable({ tenant, name })).toBe(variable);
    expect([...readSecretVariables({ [variable]: 'value' })]).toEqual([[variable, 'value']]);
  });

  test('is never shared by two secrets, and is always accepted', () => {
    const word = fc.stringMatching(/^[a-bA-Bx25][a-bA-BxX0-5_.-]{0,6}$/);
    const place = fc.record({ tenant: fc.oneof(word, fc.constant('default')), name: word });
    fc.assert(
      fc.property(place, place, (one, other) => {
        const variable = secretVariable(one);
        expect(variable).toMatch(/^[A-Za-z0-9_]+$/);
        expect(readSecretVariables({ [variable]: 'v' }).get(variable)).toBe('v');
        const isSame = one.tenant === other.tenant && one.name === other.name;
        expect(variable === secretVariable(other)).toBe(isSame);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['CAPSTAN_SECRET_ACME__TOKEN', 'CAPSTAN_SECRET__ACME__TOKEN for token of the tenant acme'],
    ['CAPSTAN_SECRET_ACME__TOKEN', 'CAPSTAN_SECRET_ACME_x5F_x5FTOKEN for acme__token of the tenant default'],
    ['CAPSTAN_SECRET_token', 'CAPSTAN_SECRET_TOKEN for token of the tenant default'],
    ['CAPSTAN_SECRET_A_x2dB', 'see "Secrets"'],
    ['CAPSTAN_SECRET_A_x62', 'see "Secrets"'],
    ['CAPSTAN_SECRET__A__B__C', 'see "Secrets"'],
    ['CAPSTAN_SECRET_', 'see "Secrets"'],
  ])('%s stops the start, and the message says: %s', (variable, said) => {
    expect(() => readSecretVariables({ [variable]: 'not-to-be-shown' })).toThrow(said);
    expect(() => readSecretVariables({ [variable]: 'not-to-be-shown' })).toThrow(variable);
    expect(() => readSecretVariables({ [variable]: 'not-to-be-shown' })).not.toThrow('not-to-be-shown');
    expect(readSecretVariables({ [variable]: '' }).size).toBe(0);
  });
});
