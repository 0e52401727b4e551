package smpp

import (
	"fmt"
	"slices"
)

// Tag names an optional parameter (SMPP v3.4 §5.3.2, v5.0 §4.8.1).
type Tag uint16

// The optional parameters of SMPP v3.4 and v5.0.
const (
	TagDestAddrSubunit            Tag = 0x0005
	TagDestNetworkType            Tag = 0x0006
	TagDestBearerType             Tag = 0x0007
	TagDestTelematicsID           Tag = 0x0008
	TagSourceAddrSubunit          Tag = 0x000D
	TagSourceNetworkType          Tag = 0x000E
	TagSourceBearerType           Tag = 0x000F
	TagSourceTelematicsID         Tag = 0x0010
	TagQoSTimeToLive              Tag = 0x0017
	TagPayloadType                Tag = 0x0019
	TagAdditionalStatusInfoText   Tag = 0x001D
	TagReceiptedMessageID         Tag = 0x001E
	TagMSMsgWaitFacilities        Tag = 0x0030
	TagPrivacyIndicator           Tag = 0x0201
	TagSourceSubaddress           Tag = 0x0202
	TagDestSubaddress             Tag = 0x0203
	TagUserMessageReference       Tag = 0x0204
	TagUserResponseCode           Tag = 0x0205
	TagSourcePort                 Tag = 0x020A
	TagDestinationPort            Tag = 0x020B
	TagSARMsgRefNum               Tag = 0x020C
	TagLanguageIndicator          Tag = 0x020D
	TagSARTotalSegments           Tag = 0x020E
	TagSARSegmentSeqNum           Tag = 0x020F
	TagSCInterfaceVersion         Tag = 0x0210
	TagCallbackNumPresInd         Tag = 0x0302
	TagCallbackNumATag            Tag = 0x0303
	TagNumberOfMessages           Tag = 0x0304
	TagCallbackNum                Tag = 0x0381
	TagDPFResult                  Tag = 0x0420
	TagSetDPF                     Tag = 0x0421
	TagMSAvailabilityStatus       Tag = 0x0422
	TagNetworkErrorCode           Tag = 0x0423
	TagMessagePayload             Tag = 0x0424
	TagDeliveryFailureReason      Tag = 0x0425
	TagMoreMessagesToSend         Tag = 0x0426
	TagMessageState               Tag = 0x0427
	TagCongestionState            Tag = 0x0428
	TagUSSDServiceOp              Tag = 0x0501
	TagBroadcastChannelIndicator  Tag = 0x0600
	TagBroadcastContentType       Tag = 0x0601
	TagBroadcastContentTypeInfo   Tag = 0x0602
	TagBroadcastMessageClass      Tag = 0x0603
	TagBroadcastRepNum            Tag = 0x0604
	TagBroadcastFrequencyInterval Tag = 0x0605
	TagBroadcastAreaIdentifier    Tag = 0x0606
	TagBroadcastErrorStatus       Tag = 0x0607
	TagBroadcastAreaSuccess       Tag = 0x0608
	TagBroadcastEndTime           Tag = 0x0609
	TagBroadcastServiceGroup      Tag = 0x060A
	TagBillingIdentification      Tag = 0x060B
	TagSourceNetworkID            Tag = 0x060D
	TagDestNetworkID              Tag = 0x060E
	TagSourceNodeID               Tag = 0x060F
	TagDestNodeID                 Tag = 0x0610
	TagDestAddrNPResolution       Tag = 0x0611
	TagDestAddrNPInformation      Tag = 0x0612
	TagDestAddrNPCountry          Tag = 0x0613
	TagDisplayTime                Tag = 0x1201
	TagSMSSignal                  Tag = 0x1203
	TagMSValidity                 Tag = 0x1204
	TagAlertOnMessageDelivery     Tag = 0x130C
	TagITSReplyType               Tag = 0x1380
	TagITSSessionInfo             Tag = 0x1383
)

// String is the specification's name, such as receipted_message_id, and 0x1401 for any other tag.
func (t Tag) String() string {
	if name, ok := tagNames[t]; ok {
		return name
	}
	return fmt.Sprintf("0x%04X", uint16(t))
}

// TLV is one optional parameter (SMPP v3.4 §3.2.4).
type TLV struct {
	Tag    Tag
	Value  []byte // at most 65535 octets; after decoding a part of the PDU, not a copy
	Offset int    // of Value within the PDU it was decoded from; not read when encoding
}

// TLVs are a PDU's optional parameters: in wire order after decoding, repeated tags kept, in any order
// before encoding, which writes them in order of their tags.
type TLVs []TLV

// Find is the first parameter with the tag.
func (t TLVs) Find(tag Tag) (TLV, bool) {
	i := slices.IndexFunc(t, func(v TLV) bool { return v.Tag == tag })
	if i < 0 {
		return TLV{}, false
	}
	return t[i], true
}

var tagNames = map[Tag]string{
	TagDestAddrSubunit:            "dest_addr_subunit",
	TagDestNetworkType:            "dest_network_type",
	TagDestBearerType:             "dest_bearer_type",
	TagDestTelematicsID:           "dest_telematics_id",
	TagSourceAddrSubunit:          "source_addr_subunit",
	TagSourceNetworkType:          "source_network_type",
	TagSourceBearerType:           "source_bearer_type",
	TagSourceTelematicsID:         "source_telematics_id",
	TagQoSTimeToLive:              "qos_time_to_live",
	TagPayloadType:                "payload_type",
	TagAdditionalStatusInfoText:   "additional_status_info_text",
	TagReceiptedMessageID:         "receipted_message_id",
	TagMSMsgWaitFacilities:        "ms_msg_wait_facilities",
	TagPrivacyIndicator:           "privacy_indicator",
	TagSourceSubaddress:           "source_subaddress",
	TagDestSubaddress:             "dest_subaddress",
	TagUserMessageReference:       "user_message_reference",
	TagUserResponseCode:           "user_response_code",
	TagSourcePort:                 "source_port",
	TagDestinationPort:            "destination_port",
	TagSARMsgRefNum:               "sar_msg_ref_num",
	TagLanguageIndicator:          "language_indicator",
	TagSARTotalSegments:           "sar_total_segments",
	TagSARSegmentSeqNum:           "sar_segment_seqnum",
	TagSCInterfaceVersion:         "sc_interface_version",
	TagCallbackNumPresInd:         "callback_num_pres_ind",
	TagCallbackNumATag:            "callback_num_atag",
	TagNumberOfMessages:           "number_of_messages",
	TagCallbackNum:                "callback_num",
	TagDPFResult:                  "dpf_result",
	TagSetDPF:                     "set_dpf",
	TagMSAvailabilityStatus:       "ms_availability_status",
	TagNetworkErrorCode:           "network_error_code",
	TagMessagePayload:             "message_payload",
	TagDeliveryFailureReason:      "delivery_failure_reason",
	TagMoreMessagesToSend:         "more_messages_to_send",
	TagMessageState:               "message_state",
	TagCongestionState:            "congestion_state",
	TagUSSDServiceOp:              "ussd_service_op",
	TagBroadcastChannelIndicator:  "broadcast_channel_indicator",
	TagBroadcastContentType:       "broadcast_content_type",
	TagBroadcastContentTypeInfo:   "broadcast_content_type_info",
	TagBroadcastMessageClass:      "broadcast_message_class",
	TagBroadcastRepNum:            "broadcast_rep_num",
	TagBroadcastFrequencyInterval: "broadcast_frequency_interval",
	TagBroadcastAreaIdentifier:    "broadcast_area_identifier",
	TagBroadcastErrorStatus:       "broadcast_error_status",
	TagBroadcastAreaSuccess:       "broadcast_area_success",
	TagBroadcastEndTime:           "broadcast_end_time",
	TagBroadcastServiceGroup:      "broadcast_service_group",
	TagBillingIdentification:      "billing_identification",
	TagSourceNetworkID:            "source_network_id",
	TagDestNetworkID:              "dest_network_id",
	TagSourceNodeID:               "source_node_id",
	TagDestNodeID:                 "dest_node_id",
	TagDestAddrNPResolution:       "dest_addr_np_resolution",
	TagDestAddrNPInformation:      "dest_addr_np_information",
	TagDestAddrNPCountry:          "dest_addr_np_country",
	TagDisplayTime:                "display_time",
	TagSMSSignal:                  "sms_signal",
	TagMSValidity:                 "ms_validity",
	TagAlertOnMessageDelivery:     "alert_on_message_delivery",
	TagITSReplyType:               "its_reply_type",
	TagITSSessionInfo:             "its_session_info",
}

// TagNamed finds the optional parameter that the specification calls name; false when there is none.
func TagNamed(name string) (Tag, bool) {
	for tag, its := range tagNames {
		if its == name {
			return tag, true
		}
	}
	return 0, false
}
