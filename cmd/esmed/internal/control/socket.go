package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// What keeps a socket from being listened on, besides the system.
var (
	// ErrInUse says that another process listens on the socket.
	ErrInUse = errors.New("another process listens on the socket")
	// ErrNoSocket says that something else has the socket's name.
	ErrNoSocket = errors.New("there is something here that is no socket")
)

// socketMode lets the owner and the group connect.
const socketMode = 0o660

// unixSocket is a listener whose file goes with it.
type unixSocket struct {
	*net.UnixListener
	path string
}

// listenUnix listens on a Unix socket. A socket that nobody answers on is what a process left that
// ended without notice, and is replaced; anything else that is there is not touched.
func listenUnix(path string) (*unixSocket, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	// It gets its name when it has its mode: nobody may connect before.
	hidden := path + ".new"
	if err := removeStale(hidden); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(hidden, socketMode), os.Rename(hidden, path)); err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(hidden))
	}
	return &unixSocket{UnixListener: l, path: path}, nil
}

// Close removes the file too. It may be called again.
func (s *unixSocket) Close() error {
	err := s.UnixListener.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return errors.Join(err, os.Remove(s.path))
}

// removeStale removes a socket that nobody answers on.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%s: %w", path, ErrNoSocket)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
		return fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) { // too busy to answer, or not for us
		return fmt.Errorf("%s: %w: %w", path, ErrInUse, err)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// peerUID is the user at the other end of a Unix socket's connection (SO_PEERCRED).
func peerUID(c net.Conn) (uint32, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, fmt.Errorf("%T has no credentials", c)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if credErr != nil {
		return 0, credErr
	}
	return cred.Uid, nil
}
