"""The architectures of DL4J's zoo, labels of their classes, and what reads the output of detectors.

::

    net = LeNet(num_classes=10, seed=123).init()
    net = LeNet.builder().numClasses(10).inputShape(1, 28, 28).build().init()       # Java's spelling
    net = ResNet50().init_pretrained(path="resnet50_dl4j_inference.v3.zip")         # a local file; nothing is downloaded
"""
from ...layers.types.detection import DetectedObject, YoloUtils
from .alexnet import AlexNet
from .darknet import YOLO2, Darknet19, TinyYOLO
from .drawing import draw_detections
from .facenet import FaceNetNN4Small2
from .inception_resnet_v1 import InceptionResNetV1
from .labels import BaseLabels, ClassPrediction, COCOLabels, DarknetLabels, ImageNetLabels, VOCLabels
from .lenet import LeNet
from .model import ModelMetaData, ZooModel, ZooType
from .nasnet import NASNet
from .pretrained import PretrainedType
from .resnet50 import ResNet50
from .simple_cnn import SimpleCNN
from .squeezenet import SqueezeNet
from .text_generation_lstm import TextGenerationLSTM
from .unet import UNet
from .vgg import VGG16, VGG19
from .xception import Xception

__all__ = [
    "VGG16",
    "VGG19",
    "YOLO2",
    "AlexNet",
    "BaseLabels",
    "COCOLabels",
    "ClassPrediction",
    "Darknet19",
    "DarknetLabels",
    "DetectedObject",
    "FaceNetNN4Small2",
    "ImageNetLabels",
    "InceptionResNetV1",
    "LeNet",
    "ModelMetaData",
    "NASNet",
    "PretrainedType",
    "ResNet50",
    "SimpleCNN",
    "SqueezeNet",
    "TextGenerationLSTM",
    "TinyYOLO",
    "UNet",
    "VOCLabels",
    "Xception",
    "YoloUtils",
    "ZooModel",
    "ZooType",
    "draw_detections",
]
