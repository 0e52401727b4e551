package smpptest_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutext"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"esmed/smpp/smpptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; none takes nearly as long.
const patience = 10 * time.Second

// start is a server that ends with the test.
func start(t *testing.T, cfg smpptest.Config) *smpptest.Server {
	t.Helper()
	s, err := smpptest.Start(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// esme is one connection of an ESME that writes with go-smpp's codec and reads frames as they are.
type esme struct {
	t   *testing.T
	nc  net.Conn
	seq uint32
}

func connect(t *testing.T, s *smpptest.Server) *esme {
	t.Helper()
	nc, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	require.NoError(t, nc.SetDeadline(time.Now().Add(patience)))
	return &esme{t: t, nc: nc}
}

// bound is a transceiver.
func bound(t *testing.T, s *smpptest.Server) *esme {
	t.Helper()
	e := connect(t, s)
	seq := e.send(bind(pdu.NewBindTransceiver(), "esme", "secret"))
	got := e.read()
	require.Equal(t, pdu.BindTransceiverRespID, got.id)
	require.Equal(t, uint32(0), got.status)
	require.Equal(t, seq, got.seq)
	return e
}

func bind(p pdu.Body, systemID, password string) pdu.Body {
	f := p.Fields()
	_ = f.Set(pdufield.SystemID, systemID)
	_ = f.Set(pdufield.Password, password)
	_ = f.Set(pdufield.InterfaceVersion, 0x34)
	return p
}

func submitSM(dest string) pdu.Body {
	p := pdu.NewSubmitSM(nil)
	f := p.Fields()
	_ = f.Set(pdufield.SourceAddr, "15550100")
	_ = f.Set(pdufield.DestinationAddr, dest)
	_ = f.Set(pdufield.DestAddrTON, 1)
	_ = f.Set(pdufield.DestAddrNPI, 1)
	_ = f.Set(pdufield.RegisteredDelivery, 1)
	_ = f.Set(pdufield.ShortMessage, pdutext.Raw("Parcel at desk four"))
	return p
}

// send writes a PDU under the next sequence_number of this connection.
func (e *esme) send(p pdu.Body) uint32 {
	e.t.Helper()
	e.seq++
	p.Header().Seq = e.seq
	require.NoError(e.t, p.SerializeTo(e.nc))
	return e.seq
}

func (e *esme) submit(dest string) uint32 { e.t.Helper(); return e.send(submitSM(dest)) }

// frame is a PDU as read.
type frame struct {
	id          pdu.ID
	status, seq uint32
	body        []byte
	raw         []byte
}

func (e *esme) tryRead() (frame, error) {
	raw := make([]byte, 16)
	if _, err := io.ReadFull(e.nc, raw); err != nil {
		return frame{}, err
	}
	raw = append(raw, make([]byte, binary.BigEndian.Uint32(raw)-16)...)
	if _, err := io.ReadFull(e.nc, raw[16:]); err != nil {
		return frame{}, err
	}
	return frame{pdu.ID(binary.BigEndian.Uint32(raw[4:])), binary.BigEndian.Uint32(raw[8:]), binary.BigEndian.Uint32(raw[12:]), raw[16:], raw}, nil
}

func (e *esme) read() frame {
	e.t.Helper()
	f, err := e.tryRead()
	require.NoError(e.t, err)
	return f
}

// want reads a PDU that must be of this kind.
func (e *esme) want(id pdu.ID) frame {
	e.t.Helper()
	f := e.read()
	require.Equal(e.t, id.String(), f.id.String())
	return f
}

// ack answers a deliver_sm, data_sm or anything else with a status; unknown commands get a generic_nack.
func (e *esme) ack(f frame, status uint32) {
	e.t.Helper()
	id, body := f.id|0x80000000, []byte{0}
	if f.id != pdu.DeliverSMID && f.id != pdu.DataSMID {
		id, body = pdu.GenericNACKID, nil
	}
	e.write(id, status, f.seq, body)
}

func (e *esme) write(id pdu.ID, status, seq uint32, body []byte) {
	e.t.Helper()
	var b bytes.Buffer
	for _, v := range []uint32{uint32(16 + len(body)), uint32(id), status, seq} {
		require.NoError(e.t, binary.Write(&b, binary.BigEndian, v))
	}
	b.Write(body)
	_, err := e.nc.Write(b.Bytes())
	require.NoError(e.t, err)
}

// readUntilEnd reads and acknowledges until the connection ends, or for as long as nothing comes.
func (e *esme) readFor(quiet time.Duration) []frame {
	e.t.Helper()
	var out []frame
	for {
		require.NoError(e.t, e.nc.SetReadDeadline(time.Now().Add(quiet)))
		f, err := e.tryRead()
		if errors.Is(err, os.ErrDeadlineExceeded) || err != nil {
			require.NoError(e.t, e.nc.SetDeadline(time.Now().Add(patience)))
			return out
		}
		out = append(out, f)
	}
}

// decoded reads a frame with go-smpp.
func (f frame) decoded(t *testing.T) pdu.Body {
	t.Helper()
	p, err := pdu.Decode(bytes.NewReader(f.raw))
	require.NoError(t, err)
	return p
}

func (f frame) messageID() string { return string(bytes.TrimRight(f.body, "\x00")) }
