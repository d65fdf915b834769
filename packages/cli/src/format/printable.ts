/** Text from elsewhere, without the control characters that could move the cursor or recolour the terminal. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (char) =>
    /\s/.test(char) ? ' ' : '\ufffd',
  );
