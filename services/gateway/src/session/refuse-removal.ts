import { Failure } from '@capstan/contracts';
import type { SessionFileRemoved } from '@capstan/store';
import { notFound } from '../invocation/act-on.js';

export const refuseRemoval = (path: string, why: Extract<SessionFileRemoved, { kind: 'refused' }>['why']): Failure =>
  why === 'absent'
    ? notFound(`file ${path}`)
    : new Failure('ILLEGAL_STATE', {
        detail: why === 'not_empty' ? `${path} is not empty.` : `${path} may only be read.`,
        suggestion: 'Delete a folder with recursive=true.',
      });
