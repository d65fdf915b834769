/** The promise, or an error when it takes longer. What comes later is dropped. */
export function within<T>(promise: Promise<T>, timeout_ms: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(message)), timeout_ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
