import { Invalid } from './errors.js';

/** The environment or a settings file contains no usable gateway. */
export const settingsError = (detail: string, suggestion: string): Invalid =>
  new Invalid({
    type: 'urn:capstan:problem:settings',
    title: 'wrong settings',
    status: 400,
    detail,
    code: 0,
    suggestion,
  });
