package smpptest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutext"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutlv"
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
	e.bindAs(pdu.NewBindTransceiver(), 0)
	return e
}

// piped is a transceiver over a connection in memory, for tests with a clock of their own.
func piped(t *testing.T, s *smpptest.Server) *esme {
	t.Helper()
	e := &esme{t: t, nc: s.Pipe()}
	t.Cleanup(func() { e.nc.Close() })
	e.bindAs(pdu.NewBindTransceiver(), 0)
	return e
}

// bindAs binds and wants this status.
func (e *esme) bindAs(p pdu.Body, status uint32) {
	e.t.Helper()
	id := p.Header().ID
	seq := e.send(bind(p, "esme", "secret"))
	got := e.read()
	require.Equal(e.t, (id | 0x80000000).String(), got.id.String())
	require.Equal(e.t, status, got.status)
	require.Equal(e.t, seq, got.seq)
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
	require.NoError(e.t, e.tryWrite(id, status, seq, body))
}

func (e *esme) tryWrite(id pdu.ID, status, seq uint32, body []byte) error {
	b := make([]byte, 0, 16+len(body))
	for _, v := range []uint32{uint32(16 + len(body)), uint32(id), status, seq} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	_, err := e.nc.Write(append(b, body...))
	return err
}

// acked reads a request of the SMSC and answers it ESME_ROK.
func (e *esme) acked(id pdu.ID) frame {
	e.t.Helper()
	f := e.want(id)
	e.ack(f, 0)
	return f
}

// cut reads until the connection ends, and returns the error by which it does.
func (e *esme) cut() error {
	e.t.Helper()
	_, err := io.Copy(io.Discard, e.nc)
	return err
}

// silent says whether nothing comes within d.
func (e *esme) silent(d time.Duration) bool {
	e.t.Helper()
	require.NoError(e.t, e.nc.SetReadDeadline(time.Now().Add(d)))
	_, err := e.nc.Read(make([]byte, 1))
	require.NoError(e.t, e.nc.SetReadDeadline(time.Now().Add(patience)))
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// decoded reads a frame with go-smpp.
func (f frame) decoded(t *testing.T) pdu.Body {
	t.Helper()
	p, err := pdu.Decode(bytes.NewReader(f.raw))
	require.NoError(t, err)
	return p
}

func (f frame) messageID() string { return string(bytes.TrimRight(f.body, "\x00")) }

// text and class of a deliver_sm or data_sm, and its optional parameters, as go-smpp reads them.
func (f frame) text(t *testing.T) string {
	p := f.decoded(t)
	if f.id == pdu.DataSMID {
		return p.TLVFields()[pdutlv.TagMessagePayload].String()
	}
	return p.Fields()[pdufield.ShortMessage].String()
}

func (f frame) class(t *testing.T) byte { return f.decoded(t).Fields()[pdufield.ESMClass].Bytes()[0] }

func (f frame) tlv(t *testing.T, tag pdutlv.Tag) []byte {
	if v, ok := f.decoded(t).TLVFields()[tag]; ok {
		return v.Bytes()
	}
	return nil
}

// lines are those of the truth that a test asks for.
func lines(s *smpptest.Server, typ smpptest.LineType) []smpptest.Line {
	return slices.DeleteFunc(s.Truth(), func(l smpptest.Line) bool { return l.Type != typ })
}

// kinds of the deliveries that were sent, in order.
func kinds(s *smpptest.Server) []smpptest.Kind {
	var out []smpptest.Kind
	for _, l := range lines(s, smpptest.LineDelivery) {
		out = append(out, l.Kind)
	}
	return out
}

// await waits for a state of the server.
func await(t *testing.T, s *smpptest.Server, until func(smpptest.Stats) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, s.Await(ctx, until))
}
