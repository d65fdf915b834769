import { Toast as Radix } from 'radix-ui';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { ProblemText } from './empty.js';
import './toast.css';

type Undo = () => Promise<unknown>;
type Message = {
  id: number;
  tone: 'green' | 'red' | 'grey';
  title: ReactNode;
  detail?: ReactNode;
  undo?: Undo | undefined;
};
export type Say = {
  /** With `undo`, the message has a button that reverts what was done. */
  (title: ReactNode, detail?: ReactNode, undo?: Undo): void;
  problem(title: string, error: unknown): void;
};

const ToastContext = createContext<Say>(Object.assign(() => {}, { problem: () => {} }));
let last = 0;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [messages, setMessages] = useState<Message[]>([]);
  const add = useCallback((message: Omit<Message, 'id'>) => {
    last += 1;
    const id = last;
    setMessages((before) => [...before.slice(-3), { ...message, id }]);
  }, []);
  const [say] = useState<Say>(() =>
    Object.assign((title: ReactNode, detail?: ReactNode, undo?: Undo) => add({ tone: 'green', title, detail, undo }), {
      problem: (title: string, error: unknown) => add({ tone: 'red', title, detail: <ProblemText error={error} /> }),
    }),
  );
  const drop = (id: number) => setMessages((before) => before.filter((message) => message.id !== id));
  const revert = async (undo: Undo) => {
    try {
      await undo();
      say('Undone');
    } catch (error) {
      say.problem('It could not be undone', error);
    }
  };
  return (
    <ToastContext value={say}>
      <Radix.Provider duration={5000} label="Notice">
        {children}
        {messages.map(({ id, tone, title, detail, undo }) => (
          <Radix.Root
            key={id}
            className={`toast tone-${tone}`}
            duration={tone === 'red' || undo ? 12_000 : 5000}
            onOpenChange={(open) => !open && drop(id)}
          >
            <span className="dot" />
            <div className="stack tight grow">
              <Radix.Title className="toast-title">{title}</Radix.Title>
              {detail ? (
                <Radix.Description asChild>
                  <div className="toast-detail">{detail}</div>
                </Radix.Description>
              ) : null}
            </div>
            {undo ? (
              <Radix.Action asChild altText="Do it in reverse on its page">
                <button type="button" className="button small" onClick={() => void revert(undo)}>
                  Undo
                </button>
              </Radix.Action>
            ) : null}
          </Radix.Root>
        ))}
        <Radix.Viewport className="toasts" />
      </Radix.Provider>
    </ToastContext>
  );
}

export const useToast = (): Say => useContext(ToastContext);
