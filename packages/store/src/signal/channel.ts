/** The channel of LISTEN and NOTIFY that every process of an installation hears. */
export const CHANNEL = 'capstan';
