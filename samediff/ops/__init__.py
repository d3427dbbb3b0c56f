"""Every built-in op, one file per topic; importing the package registers them."""
from . import activations as activations
from . import arithmetic as arithmetic
from . import bitwise as bitwise
from . import comparison as comparison
from . import moments as moments
from . import product as product
from . import reduce as reduce
from . import shape_info as shape_info
from . import transforms as transforms
from . import softmax as softmax
from . import cross_entropy as cross_entropy
from . import ctc as ctc
from . import losses as losses
