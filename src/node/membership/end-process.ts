/** Ends the process from another thread, when its main thread hangs. */

const LEAVE = "process.removeAllListeners('exit'); process.exit(1)";

/**
 * End this process, whose main loop stands still. A signal does, but not from within to process 1 of a container: the
 * kernel ignores it. There the main thread is interrupted as by a debugger, and leaves with code 1, and no
 * listener holds that up. That reaches loops and regular expressions without end; a call into the system that never returns is
 * left to whoever watches the container.
 */
export async function endStuckProcess(): Promise<void> {
  if (process.pid !== 1) {
    process.kill(process.pid, 'SIGKILL');
    return;
  }
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression: LEAVE });
}
